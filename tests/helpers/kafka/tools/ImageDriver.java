import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.loader.MetadataBatchLoader;
import org.apache.kafka.image.node.MetadataNode;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.config.DefaultSupportedConfigChecker;
import org.apache.kafka.server.fault.FaultHandler;
import org.apache.kafka.shell.node.RootShellNode;
import org.apache.kafka.shell.node.printer.ShellNodePrinter;

/**
 * Loads logs by the classes that Kafka's metadata shell loads them with, one after the other in one
 * thread, and prints their trees by the shell's nodes.
 *
 * A request is a log, its length (int32) before it. After an empty answer that says it is ready,
 * each answer is text, its length before it: lines that end in NUL, `path TAB text` of each leaf,
 * `path/` of each directory, then `!` and what Kafka logs of each record or batch that it left out.
 */
public class ImageDriver {
    private static final class Load implements FaultHandler {
        final List<String> faults = new ArrayList<>();
        MetadataImage image = MetadataImage.EMPTY;

        @Override
        public RuntimeException handleFault(String message, Throwable cause) {
            faults.add(cause == null ? message : message + ": " + cause);
            return new RuntimeException(message, cause);
        }

        void run(ByteBuffer log) {
            MetadataBatchLoader loader = new MetadataBatchLoader(new LogContext(), Time.SYSTEM, this,
                (delta, newImage, manifest) -> image = newImage, new DefaultSupportedConfigChecker());
            for (RecordBatch batch : MemoryRecords.readableRecords(log).batches()) {
                if (!batch.isControlBatch()) {
                    loader.loadBatch(read(batch), LeaderAndEpoch.UNKNOWN);
                    loader.maybeFlushBatches(LeaderAndEpoch.UNKNOWN, true);
                }
            }
        }

        /** As the shell's reader of snapshots does. */
        private static Batch<ApiMessageAndVersion> read(RecordBatch batch) {
            List<ApiMessageAndVersion> messages = new ArrayList<>();
            for (Record record : batch) {
                try {
                    messages.add(MetadataRecordSerde.INSTANCE.read(
                        new ByteBufferAccessor(record.value()), record.valueSize()));
                } catch (Throwable unreadable) {
                    // The shell logs it and goes on.
                }
            }
            return Batch.data(batch.baseOffset(), batch.partitionLeaderEpoch(), batch.maxTimestamp(),
                batch.sizeInBytes(), messages);
        }
    }

    public static void main(String[] arguments) throws IOException {
        DataInputStream requests = new DataInputStream(System.in);
        DataOutputStream answers =
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        answer(answers, "");
        for (int size = requests.read(); size >= 0; size = requests.read()) {
            for (int i = 0; i < 3; i++) {
                size = size << 8 | requests.readUnsignedByte();
            }
            Load load = new Load();
            StringBuilder out = new StringBuilder();
            try {
                load.run(ByteBuffer.wrap(requests.readNBytes(size)));
                show(out, "", new RootShellNode(load.image));
            } catch (RuntimeException died) {
                load.faults.add("died: " + died);
            }
            load.faults.forEach(fault -> out.append('!').append(fault).append('\0'));
            answer(answers, out.toString());
        }
    }

    private static void show(StringBuilder out, String path, MetadataNode node) {
        if (!node.isDirectory()) {
            StringWriter text = new StringWriter();
            node.print(new ShellNodePrinter(new PrintWriter(text)));
            out.append(path).append('\t').append(text).append('\0');
            return;
        }
        out.append(path).append("/\0");
        node.childNames().stream().sorted().forEach(name -> {
            MetadataNode child = null;
            try {
                child = node.child(name);
            } catch (RuntimeException unnamed) {
                // Quotas of nothing but defaults have no name.
            }
            if (child != null) {
                show(out, path + "/" + name, child);
            }
        });
    }

    private static void answer(DataOutputStream answers, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        answers.writeInt(bytes.length);
        answers.write(bytes);
        answers.flush();
    }
}
