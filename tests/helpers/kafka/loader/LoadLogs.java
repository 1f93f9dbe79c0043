// What Kafka's own loader makes of directories of partitions: start and end offset, or the exception that it throws.
//
// One file for Kafka 3.9 and 4.0 (kafka.log.UnifiedLog, in Scala) and 4.1 up (org.apache.kafka.storage.internals.log.UnifiedLog,
// in Java): the log and the metrics are made and asked by reflection, arguments by the types of the one public factory.
//
// A request is a line of fields with tabs between them: directory, log start offset, recovery point, clean or unclean, and
// key=value of the topic. An answer is a line of JSON. An empty line is answered by an empty object. The directories are changed
// as a broker changes them, but for what it would do later: .deleted files stay.
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

public class LoadLogs {
    // 4.0 has both names, of the Java one only helpers: Scala's first
    private static final Class<?> LOG = first("kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog");
    private static final boolean SCALA = LOG.getName().startsWith("kafka.log");
    private static final Method CREATE = factory();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            if (line.isEmpty()) {
                System.out.println("{}");
                System.out.flush();
                continue;
            }
            String[] f = line.split("\t");
            File dir = new File(f[0]);
            Map<String, Object> config = new HashMap<>();
            boolean tiered = false;
            for (int i = 4; i < f.length; i++) {
                String[] pair = f[i].split("=", 2);
                if (pair[0].equals("remote.storage.enable")) tiered = Boolean.parseBoolean(pair[1]);
                config.put(pair[0], pair[1]);
            }
            KafkaScheduler scheduler = new KafkaScheduler(1); // not started: nothing is deleted or flushed behind our back
            String answer;
            try {
                Object log = create(dir, new LogConfig(config), Long.parseLong(f[1]), Long.parseLong(f[2]), scheduler, f[3].equals("clean"), tiered);
                answer = "\"starts\": true, \"startOffset\": " + ask(log, "logStartOffset") + ", \"localStartOffset\": " + ask(log, "localLogStartOffset")
                    + ", \"endOffset\": " + ask(log, "logEndOffset") + ", \"segments\": " + ask(log, "numberOfSegments")
                    + ", \"topicId\": " + text(ask(log, "topicId")) + ", \"latestEpoch\": " + ask(log, "latestEpoch");
                ask(log, "closeHandlers");
            } catch (Throwable e) {
                answer = "\"starts\": false, \"error\": " + text(e.getClass().getName()) + ", \"message\": " + text(e.getMessage());
            }
            String[] left = dir.list();
            if (left == null) left = new String[0];
            Arrays.sort(left);
            StringBuilder files = new StringBuilder();
            for (String name : left) files.append(files.length() == 0 ? "" : ", ").append(text(name));
            System.out.println("{\"directory\": " + text(f[0]) + ", " + answer + ", \"files\": [" + files + "]}");
            System.out.flush();
        }
    }

    /** UnifiedLog.create of 4.1 up, with 16 arguments; UnifiedLog.apply of 3.9 and 4.0, with keepPartitionMetadataFile after the topic id. */
    private static Object create(File dir, LogConfig config, long start, long recoveryPoint, KafkaScheduler scheduler, boolean clean, boolean tiered)
        throws Throwable {
        Object stats = CREATE.getParameterTypes()[5].getConstructor(boolean.class).newInstance(false); // BrokerTopicStats of either package
        ProducerStateManagerConfig producers = new ProducerStateManagerConfig(86_400_000, false);
        LogDirFailureChannel failures = new LogDirFailureChannel(1);
        Map<String, Integer> partitions = new ConcurrentHashMap<>();
        Object listener = LogOffsetsListener.NO_OP_OFFSETS_LISTENER;
        return call(null, CREATE, SCALA
            ? new Object[] {dir, config, start, recoveryPoint, scheduler, stats, Time.SYSTEM, 900_000, producers, 600_000, failures, clean,
                scala("scala.Option", "empty"), true, partitions, tiered, listener}
            : new Object[] {dir, config, start, recoveryPoint, scheduler, stats, Time.SYSTEM, 900_000, producers, 600_000, failures, clean,
                Optional.empty(), partitions, tiered, listener});
    }

    private static Method factory() {
        for (Method m : LOG.getMethods())
            if (m.getName().equals(SCALA ? "apply" : "create") && m.getParameterCount() == (SCALA ? 17 : 16)) return m;
        throw new IllegalStateException("no known factory in " + LOG);
    }

    /** What the method without arguments returns; of an Option or Optional what is in it, or null. */
    private static Object ask(Object log, String method) throws Throwable {
        Object value = call(log, LOG.getMethod(method));
        if (value instanceof Optional) return ((Optional<?>) value).orElse(null);
        if (value == null || !value.getClass().getName().matches("scala\\.(Some|None\\$)")) return value;
        Class<?> option = Class.forName("scala.Option");
        return (Boolean) option.getMethod("isEmpty").invoke(value) ? null : option.getMethod("get").invoke(value);
    }

    private static Object scala(String name, String method) throws Exception {
        return Class.forName(name).getMethod(method).invoke(null);
    }

    private static Object call(Object on, Method method, Object... args) throws Throwable {
        try {
            return method.invoke(on, args);
        } catch (InvocationTargetException e) {
            throw e.getCause(); // as without reflection: the loader's own exception
        }
    }

    private static Class<?> first(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                // an older or newer release
            }
        }
        throw new IllegalStateException("none of " + Arrays.toString(names));
    }

    private static String text(Object value) {
        if (value == null) return "null";
        StringBuilder out = new StringBuilder("\"");
        for (char c : value.toString().toCharArray()) {
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }
}
