import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.common.utils.Exit;

/**
 * Runs a tool of Kafka's, whose class is the argument, once for each line of standard input, the
 * tool's arguments separated by tabs; a line that is a lone NUL stands for no arguments.
 *
 * After an empty answer that says it is ready, each answer is the exit code (int32), then standard
 * output and standard error, each with its length (int32) before it.
 */
public class ToolDriver {
    private static final class Exited extends Error {
        final int code;

        Exited(int code) {
            super("exit " + code, null, false, false);
            this.code = code;
        }
    }

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        DataOutputStream answers =
            new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        BufferedReader requests =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Method tool = Class.forName(arguments[0]).getMethod("main", String[].class);
        Exit.setExitProcedure((code, message) -> {
            throw new Exited(code);
        });
        Exit.setHaltProcedure((code, message) -> {
            throw new Exited(code);
        });
        answer(answers, 0, new byte[0], new byte[0]);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            String[] given = line.equals("\0") ? new String[0] : line.split("\t", -1);
            int code = run(tool, given, out, err);
            answer(answers, code, out.toByteArray(), err.toByteArray());
        }
    }

    private static int run(
            Method tool, String[] arguments, ByteArrayOutputStream out, ByteArrayOutputStream err)
            throws IllegalAccessException {
        PrintStream bufferedOut =
            new PrintStream(new BufferedOutputStream(out), false, StandardCharsets.UTF_8);
        PrintStream bufferedErr = new PrintStream(err, false, StandardCharsets.UTF_8);
        System.setOut(bufferedOut);
        System.setErr(bufferedErr);
        try {
            tool.invoke(null, (Object) arguments);
            return 0;
        } catch (InvocationTargetException died) { // of whatever, OutOfMemoryError too
            if (died.getCause() instanceof Exited exited) {
                return exited.code;
            }
            bufferedErr.print("Exception in thread \"main\" "); // as a JVM of its own says it
            died.getCause().printStackTrace(bufferedErr);
            return 1;
        } finally {
            bufferedOut.flush();
            bufferedErr.flush();
        }
    }

    private static void answer(DataOutputStream answers, int code, byte[] out, byte[] err)
            throws IOException {
        answers.writeInt(code);
        for (byte[] part : new byte[][] {out, err}) {
            answers.writeInt(part.length);
            answers.write(part);
        }
        answers.flush();
    }
}
