package halfcheck.harness;

import halfcheck.agent.Activity;
import io.netty.channel.ChannelHandlerContext;
import org.apache.rocketmq.remoting.netty.NettyRequestProcessor;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** An END_TRANSACTION in handling: a commit stops when the real message is stored, before the op message. */
final class Ending {
    private static final String SYSTEM_ERROR = "1";

    private final Activity handling;
    private final boolean isCommit;
    private String answer;

    Ending(NettyRequestProcessor processor, ChannelHandlerContext from, RemotingCommand request, boolean isCommit) {
        this.isCommit = isCommit;
        handling = new Activity(() -> {
            try {
                RemotingCommand response = processor.processRequest(from, request);
                answer = response == null ? "none" : Integer.toString(response.getCode());
            } catch (Exception error) {
                // The remoting server gives that answer to whatever a processor throws.
                answer = SYSTEM_ERROR;
            }
        });
    }

    /** Goes on; gives the code of the answer, or that the real message is stored. */
    String go() {
        boolean wasBegun = !handling.at().isEmpty();
        do {
            handling.go();
        } while (!handling.isOver() && !(isCommit && !wasBegun && handling.at().equals("message stored")));
        return handling.isOver() ? answer : handling.at();
    }

    boolean isOver() {
        return handling.isOver();
    }

    void kill() {
        handling.kill();
    }
}
