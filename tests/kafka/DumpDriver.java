import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.DumpLogSegments;

/**
 * Runs Kafka's dump tool once for each line of standard input, its arguments separated by tabs.
 *
 * After an empty answer that says it is ready, each answer is a byte that tells whether the tool
 * threw or exited, then its standard output and its standard error, each with its length (int32)
 * before it.
 */
public class DumpDriver {
    private static final class Exited extends Error {
        Exited(int code) {
            super("exit " + code, null, false, false);
        }
    }

    public static void main(String[] unused) throws IOException {
        DataOutputStream answers =
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Exit.setExitProcedure((code, message) -> {
            throw new Exited(code);
        });
        Exit.setHaltProcedure((code, message) -> {
            throw new Exited(code);
        });
        answer(answers, false, new byte[0], new byte[0]);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            boolean threw = !run(line.split("\t", -1), out, err);
            answer(answers, threw, out.toByteArray(), err.toByteArray());
        }
    }

    private static boolean run(
            String[] arguments, ByteArrayOutputStream out, ByteArrayOutputStream err) {
        PrintStream bufferedOut =
            new PrintStream(new BufferedOutputStream(out), false, StandardCharsets.UTF_8);
        PrintStream bufferedErr = new PrintStream(err, false, StandardCharsets.UTF_8);
        System.setOut(bufferedOut);
        System.setErr(bufferedErr);
        try {
            DumpLogSegments.main(arguments);
            return true;
        } catch (Throwable thrown) { // whatever the tool dies of, OutOfMemoryError too
            thrown.printStackTrace(bufferedErr);
            return false;
        } finally {
            bufferedOut.flush();
            bufferedErr.flush();
        }
    }

    private static void answer(DataOutputStream answers, boolean threw, byte[] out, byte[] err)
            throws IOException {
        answers.writeBoolean(threw);
        for (byte[] part : new byte[][] {out, err}) {
            answers.writeInt(part.length);
            answers.write(part);
        }
        answers.flush();
    }
}
