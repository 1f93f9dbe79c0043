import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints the configuration keys of a Kafka release, a line each: code of the resource type, name, type.
 *
 * With names of keys as arguments, a line for each: whether Kafka takes values of such a key of a
 * server for secrets.
 */
public class ConfigKeys {
    /** Codes of `ConfigResource.Type`, classes, and members with a definition or the names of keys. */
    private static final String[][] SOURCES = {
        {"4", "kafka.server.KafkaConfig", "configDef"},
        {"4", "kafka.server.KafkaConfig", "configNames"},
        {"4", "kafka.server.DynamicConfig$Broker$", "brokerConfigDef"},
        {"4", "org.apache.kafka.server.config.QuotaConfigs", "brokerQuotaConfigs"},
        {"4", "org.apache.kafka.server.config.QuotaConfig", "brokerQuotaConfigs"},
        {"4", "org.apache.kafka.server.config.DynamicConfig$Broker", "configKeys"},
        {"2", "org.apache.kafka.storage.internals.log.LogConfig", "configDefCopy"},
        {"2", "kafka.log.LogConfig", "configNames"},
        {"16", "org.apache.kafka.server.metrics.ClientMetricsConfigs", "configDef"},
        {"32", "org.apache.kafka.coordinator.group.GroupConfig", "CONFIG_DEF"},
        {"32", "org.apache.kafka.coordinator.group.GroupConfig", "configDef"},
    };

    public static void main(String[] names) throws ReflectiveOperationException {
        if (names.length > 0) {
            sensitivities(names);
            return;
        }
        for (String[] source : SOURCES) {
            try {
                keys(Class.forName(source[1]), source[2]).forEach((name, type) ->
                    System.out.println(source[0] + " " + name + " " + type));
            } catch (ReflectiveOperationException ofAnotherRelease) {
                continue;
            }
        }
    }

    private static void sensitivities(String[] names) throws ReflectiveOperationException {
        Class<?> owner = Class.forName("kafka.server.KafkaConfig");
        for (String name : names) {
            Object type = owner.getMethod("configType", String.class).invoke(null, name);
            System.out.println(owner.getMethod("maybeSensitive", Class.forName("scala.Option")).invoke(null, type));
        }
    }

    private static Map<String, String> keys(Class<?> owner, String member) throws ReflectiveOperationException {
        Object found = member(owner, member);
        Map<String, String> types = new TreeMap<>();
        if (found instanceof ConfigDef) {
            found = ((ConfigDef) found).configKeys();
        }
        if (found instanceof Map) {
            ((Map<?, ?>) found).forEach((name, key) ->
                types.put((String) name, ((ConfigDef.ConfigKey) key).type.toString()));
            return types;
        }
        for (Object name : items(found)) { // of Scala, with `Option`s of types
            Object type = owner.getMethod("configType", String.class).invoke(null, name);
            types.put((String) name, type.getClass().getMethod("get").invoke(type).toString());
        }
        return types;
    }

    private static Object member(Class<?> owner, String name) throws ReflectiveOperationException {
        try {
            return owner.getField(name).get(null);
        } catch (NoSuchFieldException isMethod) {
            Object module = owner.getName().endsWith("$") ? owner.getField("MODULE$").get(null) : null;
            return owner.getMethod(name).invoke(module);
        }
    }

    private static List<Object> items(Object names) throws ReflectiveOperationException {
        Object[] copied = (Object[]) Class.forName("scala.collection.IterableOnceOps")
            .getMethod("toArray", Class.forName("scala.reflect.ClassTag"))
            .invoke(names, Class.forName("scala.reflect.ClassTag").getMethod("AnyRef").invoke(null));
        return new ArrayList<>(List.of(copied));
    }
}
