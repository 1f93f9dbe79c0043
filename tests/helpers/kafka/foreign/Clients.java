import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/**
 * Java's clients, all at once, one for each name after the address of a broker: producers
 * ("producer"), consumers ("consumer" of KIP-848, "share" of KIP-932) and Kafka Streams with either
 * protocol ("streams-classic", "streams-streams"). They read the topic "words".
 */
public class Clients {
    private static final int ENOUGH = 60;
    private static final long LIMIT_NANOS = Duration.ofSeconds(60).toNanos();

    private interface Client {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        String address = arguments[0];
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (String name : List.of(arguments).subList(1, arguments.length)) {
            Client client = switch (name) {
                case "producer" -> () -> produce(address);
                case "consumer" -> () -> consume(address);
                case "share" -> () -> share(address);
                default -> () -> stream(address, name.substring("streams-".length()));
            };
            Thread thread = new Thread(() -> {
                try {
                    client.run();
                } catch (Throwable failed) {
                    failed.printStackTrace();
                    failures.add(failed);
                }
            }, name);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.exit(failures.isEmpty() ? 0 : 1);
    }

    private static Properties properties(String address, String group) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address);
        properties.put("group.id", group);
        properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
        return properties;
    }

    private static void produce(String address) {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            Properties properties = new Properties();
            properties.put("bootstrap.servers", address);
            properties.put("compression.type", codec);
            properties.put("linger.ms", "5");
            properties.put("key.serializer", ByteArraySerializer.class.getName());
            properties.put("value.serializer", ByteArraySerializer.class.getName());
            try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
                for (int number = 0; number < ENOUGH; number++) {
                    byte[] key = number % 3 == 0 ? null : ("key " + number % 7).getBytes();
                    byte[] value = number % 11 == 5 ? null : ("value " + number).repeat(5).getBytes();
                    ProducerRecord<byte[], byte[]> record =
                        new ProducerRecord<>("java", number % 2, key, value);
                    record.headers().add("codec", codec.getBytes()).add("empty", new byte[0]);
                    record.headers().add("codec", null);
                    producer.send(record);
                }
            }
        }
    }

    private static void consume(String address) {
        Properties properties = properties(address, "java-consumer");
        properties.put("group.protocol", "consumer");
        properties.put("auto.offset.reset", "earliest");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
            consumer.subscribe(Set.of("words"));
            long end = System.nanoTime() + LIMIT_NANOS;
            int count = 0;
            while (count < ENOUGH) {
                if (System.nanoTime() > end) {
                    throw new IllegalStateException("a consumer got " + count + " records");
                }
                count += consumer.poll(Duration.ofMillis(200)).count();
                consumer.commitSync();
            }
        }
    }

    /** Run a share consumer, by reflection: clients before 4.0 have none. */
    private static void share(String address) throws Exception {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", address))) {
            ConfigResource group =
                new ConfigResource(ConfigResource.Type.valueOf("GROUP"), "sharing");
            ConfigEntry earliest = new ConfigEntry("share.auto.offset.reset", "earliest");
            Collection<AlterConfigOp> changes =
                List.of(new AlterConfigOp(earliest, AlterConfigOp.OpType.SET));
            admin.incrementalAlterConfigs(Map.of(group, changes)).all().get();
        }
        Class<?> kind = Class.forName("org.apache.kafka.clients.consumer.KafkaShareConsumer");
        Class<?> acknowledgement = Class.forName("org.apache.kafka.clients.consumer.AcknowledgeType");
        Object[] types = {
            acknowledgement.getField("ACCEPT").get(null),
            acknowledgement.getField("RELEASE").get(null),
            acknowledgement.getField("REJECT").get(null),
        };
        Properties properties = properties(address, "sharing");
        properties.put("share.acknowledgement.mode", "explicit");
        Object consumer = kind.getConstructor(Properties.class).newInstance(properties);
        Method poll = kind.getMethod("poll", Duration.class);
        Method acknowledge = kind.getMethod("acknowledge", ConsumerRecord.class, acknowledgement);
        kind.getMethod("subscribe", Collection.class).invoke(consumer, Set.of("words"));
        long end = System.nanoTime() + LIMIT_NANOS;
        int count = 0;
        while (count < ENOUGH) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("a share consumer got " + count + " records");
            }
            ConsumerRecords<?, ?> records =
                (ConsumerRecords<?, ?>) poll.invoke(consumer, Duration.ofMillis(200));
            for (ConsumerRecord<?, ?> record : records) {
                acknowledge.invoke(consumer, record, types[count++ % types.length]);
            }
            kind.getMethod("commitSync").invoke(consumer);
        }
        kind.getMethod("close").invoke(consumer);
    }

    /** Count words, exactly once: with transactions, and a changelog that is compacted. */
    private static void stream(String address, String protocol) throws InterruptedException {
        AtomicInteger written = new AtomicInteger();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("words", Consumed.with(Serdes.ByteArray(), Serdes.String()))
            .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
            .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts"))
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
            .toStream()
            .peek((word, count) -> written.incrementAndGet())
            .to("counted", Produced.with(Serdes.String(), Serdes.Long()));
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address);
        properties.put("application.id", "counting-" + protocol);
        if (!protocol.equals("classic")) { // a key of Kafka 4.1
            properties.put("group.protocol", protocol);
        }
        properties.put("processing.guarantee", "exactly_once_v2");
        properties.put("commit.interval.ms", "200");
        properties.put("auto.offset.reset", "earliest");
        properties.put("statestore.cache.max.bytes", "0"); // each record has a result
        properties.put("replication.factor", "1");
        properties.put("state.dir", System.getProperty("java.io.tmpdir") + "/streams-" + protocol);
        long end = System.nanoTime() + LIMIT_NANOS;
        try (KafkaStreams streams = new KafkaStreams(builder.build(), properties)) {
            streams.start();
            while (written.get() < ENOUGH) {
                if (System.nanoTime() > end) {
                    throw new IllegalStateException("Streams wrote " + written + " records");
                }
                Thread.sleep(50);
            }
        }
    }
}
