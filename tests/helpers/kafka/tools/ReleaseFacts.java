import java.io.File;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipFile;

import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints what the jars of a Kafka release have, a line each, fields separated by tabs:
 *
 *   key NAME TYPE REQUIRED VALIDATOR DEFAULT    a key of a server configuration
 *   class INTERFACE NAME                        a class of Kafka's that a key may name
 *   feature NAME MIN MAX                        the levels of a feature that a server supports
 *
 * The arguments are the jars.
 */
public class ReleaseFacts {
    /** Interfaces of plug-ins; those of other releases are passed over. */
    private static final String[] INTERFACES = {
        "org.apache.kafka.server.authorizer.Authorizer",
        "org.apache.kafka.common.security.auth.KafkaPrincipalBuilder",
        "org.apache.kafka.common.security.auth.AuthenticateCallbackHandler",
        "org.apache.kafka.common.security.auth.Login",
        "org.apache.kafka.common.security.auth.SecurityProviderCreator",
        "org.apache.kafka.common.security.auth.SslEngineFactory",
        "org.apache.kafka.common.security.oauthbearer.JwtRetriever",
        "org.apache.kafka.common.security.oauthbearer.JwtValidator",
        "org.apache.kafka.common.metrics.MetricsReporter",
        "org.apache.kafka.common.config.provider.ConfigProvider",
        "org.apache.kafka.common.replica.ReplicaSelector",
        "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor",
        "org.apache.kafka.coordinator.group.assignor.PartitionAssignor",
        "org.apache.kafka.server.log.remote.storage.RemoteStorageManager",
        "org.apache.kafka.server.log.remote.storage.RemoteLogMetadataManager",
        "org.apache.kafka.server.policy.AlterConfigPolicy",
        "org.apache.kafka.server.policy.CreateTopicPolicy",
        "org.apache.kafka.server.quota.ClientQuotaCallback",
        "org.apache.kafka.server.share.persister.Persister",
        "kafka.metrics.KafkaMetricsReporter",
        "org.apache.kafka.server.metrics.KafkaMetricsReporter",
        "javax.security.auth.spi.LoginModule",
    };

    public static void main(String[] jars) throws Exception {
        keys();
        features();
        for (String jar : jars) {
            classes(jar);
        }
    }

    private static void keys() throws ReflectiveOperationException {
        Class<?> owner = Class.forName("kafka.server.KafkaConfig");
        Object found = member(owner, "configDef");
        new TreeMap<>(((ConfigDef) found).configKeys()).forEach((name, key) ->
            System.out.println(String.join("\t", "key", name, key.type.toString(),
                String.valueOf(key.defaultValue == ConfigDef.NO_DEFAULT_VALUE),
                key.validator == null ? "none" : key.validator.toString().replaceAll("\\s+", " "),
                String.valueOf(key.defaultValue).replaceAll("\\s+", " "))));
    }

    private static Object member(Class<?> owner, String name) throws ReflectiveOperationException {
        try {
            return owner.getMethod(name).invoke(null);
        } catch (NoSuchMethodException isOfTheModule) {
            Class<?> module = Class.forName(owner.getName() + "$");
            return module.getMethod(name).invoke(module.getField("MODULE$").get(null));
        }
    }

    private static void features() throws ReflectiveOperationException {
        Class<?> owner = Class.forName("org.apache.kafka.controller.QuorumFeatures");
        for (String name : new String[] {"defaultSupportedFeatureMap", "defaultFeatureMap"}) {
            for (var method : owner.getMethods()) {
                if (!method.getName().equals(name)) {
                    continue;
                }
                Object found = method.getParameterCount() == 0 ? method.invoke(null) : method.invoke(null, false);
                new TreeMap<>((Map<?, ?>) found).forEach((feature, range) ->
                    System.out.println("feature\t" + feature + "\t" + level(range, "min") + "\t" + level(range, "max")));
                return;
            }
        }
    }

    private static Object level(Object range, String end) {
        try {
            return range.getClass().getMethod(end).invoke(range);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void classes(String jar) throws Exception {
        try (ZipFile file = new ZipFile(new File(jar))) {
            for (var entries = file.entries(); entries.hasMoreElements();) {
                String path = entries.nextElement().getName();
                if (path.endsWith(".class") && (path.startsWith("kafka/") || path.startsWith("org/apache/kafka/"))) {
                    plugin(path.substring(0, path.length() - ".class".length()).replace('/', '.'));
                }
            }
        }
    }

    private static void plugin(String name) {
        try {
            Class<?> type = Class.forName(name, false, ReleaseFacts.class.getClassLoader());
            if (type.isInterface() || Modifier.isAbstract(type.getModifiers()) || !Modifier.isPublic(type.getModifiers())) {
                return;
            }
            for (String plugin : INTERFACES) {
                if (isA(type, plugin)) {
                    System.out.println("class\t" + plugin + "\t" + name);
                }
            }
        } catch (LinkageError | ClassNotFoundException isIncomplete) {
            return;
        }
    }

    private static boolean isA(Class<?> type, String plugin) {
        try {
            return Class.forName(plugin, false, ReleaseFacts.class.getClassLoader()).isAssignableFrom(type);
        } catch (ClassNotFoundException ofAnotherRelease) {
            return false;
        }
    }
}
