import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

import kafka.server.KafkaConfig;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.raft.QuorumConfig;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Reads server configurations as Kafka's StorageTool does, and Java's properties files.
 *
 * After an empty answer that says it is ready, each request is a letter (byte), a length (int32)
 * and that many bytes; each answer is a number of fields (int32), a field a number of texts
 * (int32; -1 for null), a text a number of chars (int32) and the chars.
 *
 * "c": a configuration; the answer is either one field, the class and the message of what was
 * thrown, or "ok", what is derived from several keys, and the values of all keys by name.
 * "p": a properties file; one field, keys and values by turns in the order of the keys, or the
 * class and the message. "s": keys and values, with a NUL after each; what Java stores of them.
 */
public class ConfigDriver {
    private final DataOutputStream out;

    private ConfigDriver(DataOutputStream out) {
        this.out = out;
    }

    public static void main(String[] unused) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        ConfigDriver driver = new ConfigDriver(
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out))));
        driver.answer(List.of());
        for (int kind = in.read(); kind >= 0; kind = in.read()) {
            byte[] data = new byte[in.readInt()];
            in.readFully(data);
            List<List<String>> fields;
            try {
                fields = kind == 'c' ? config(data) : kind == 'p' ? loaded(data) : stored(data);
            } catch (Throwable thrown) { // whatever Kafka dies of
                List<String> field = new ArrayList<>();
                field.add(thrown.getClass().getSimpleName());
                field.add(String.valueOf(thrown.getMessage()));
                fields = List.of(field);
            }
            driver.answer(fields);
        }
    }

    private static Properties properties(byte[] data) throws IOException {
        Properties properties = new Properties();
        properties.load(new ByteArrayInputStream(data));
        return properties;
    }

    private static List<List<String>> loaded(byte[] data) throws IOException {
        List<String> field = new ArrayList<>();
        field.add("ok");
        for (Map.Entry<Object, Object> entry : new TreeMap<>(properties(data)).entrySet()) {
            field.add((String) entry.getKey());
            field.add((String) entry.getValue());
        }
        return List.of(field);
    }

    private static List<List<String>> stored(byte[] data) throws IOException {
        String[] texts = new String(data, StandardCharsets.UTF_8).split("\0", -1);
        Properties properties = new Properties();
        for (int at = 0; at + 1 < texts.length; at += 2) {
            properties.setProperty(texts[at], texts[at + 1]);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        properties.store(bytes, null);
        return List.of(List.of(bytes.toString(StandardCharsets.ISO_8859_1)));
    }

    private static List<List<String>> config(byte[] data) throws IOException {
        KafkaConfig config = new KafkaConfig(properties(data));
        List<List<String>> fields = new ArrayList<>();
        fields.add(List.of("ok"));
        fields.add(config.logDirs());
        fields.add(List.of(config.metadataLogDir()));
        fields.add(voters(config));
        fields.add(endpoints(config.listeners()));
        fields.add(endpoints(config.effectiveAdvertisedControllerListeners()));
        for (String key : new TreeMap<>(KafkaConfig.configDef().configKeys()).keySet()) {
            fields.add(texts(config.values().get(key)));
        }
        return fields;
    }

    private static List<String> voters(KafkaConfig config) {
        List<String> texts = new ArrayList<>();
        try {
            QuorumConfig.parseVoterConnections(config.quorumConfig().voters()).forEach((id, address) ->
                texts.add(id + "@" + address.getHostString() + ":" + address.getPort()));
        } catch (RuntimeException unroutable) {
            return null;
        }
        return texts;
    }

    private static List<String> endpoints(Seq<Endpoint> endpoints) {
        List<String> texts = new ArrayList<>();
        for (Iterator<Endpoint> each = endpoints.iterator(); each.hasNext(); ) {
            Endpoint endpoint = each.next();
            texts.add(endpoint.listener() + " " + endpoint.host() + " " + endpoint.port() + " "
                + endpoint.securityProtocol());
        }
        return texts;
    }

    private static List<String> texts(Object value) {
        if (value == null) {
            return null;
        }
        if (value instanceof List) {
            List<String> texts = new ArrayList<>();
            ((List<?>) value).forEach(item -> texts.add((String) item));
            return texts;
        }
        if (value instanceof Password) {
            return List.of(((Password) value).value());
        }
        return List.of(value instanceof Class ? ((Class<?>) value).getName() : value.toString());
    }

    private void answer(List<List<String>> fields) throws IOException {
        out.writeInt(fields.size());
        for (List<String> field : fields) {
            out.writeInt(field == null ? -1 : field.size());
            if (field != null) {
                for (String text : field) {
                    out.writeInt(text.length());
                    out.writeChars(text);
                }
            }
        }
        out.flush();
    }
}
