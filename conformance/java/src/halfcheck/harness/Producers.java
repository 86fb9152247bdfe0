package halfcheck.harness;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.broker.client.ProducerManager;

/** The connections of clients to a broker, a channel each, by the address of the client. */
final class Producers {
    private final Map<String, Connection> connections = new HashMap<>();

    Connection connection(String address) {
        return connections.computeIfAbsent(address, Connection::new);
    }

    /** Takes a connection out, as one that has ended. */
    Connection end(String address) {
        return connections.remove(address);
    }

    /** A broker closes all connections. */
    void leave(ProducerManager manager) {
        connections.forEach(manager::doChannelCloseEvent);
    }

    /** A channel that keeps what is written to it. */
    static final class Connection extends EmbeddedChannel {
        private final InetSocketAddress client;
        private boolean isGone;
        private boolean isBusy;

        private Connection(String address) {
            super(new ChannelInboundHandlerAdapter());
            client = address(address);
        }

        void become(boolean active, boolean writable) {
            isGone = !active;
            isBusy = !writable;
        }

        @Override
        public boolean isActive() {
            return !isGone && super.isActive();
        }

        @Override
        public boolean isWritable() {
            return !isBusy && super.isWritable();
        }

        ChannelHandlerContext context() {
            return pipeline().firstContext();
        }

        /** The last that was written, if anything was; it is taken away. */
        Object lastWritten() {
            Object last = null;
            for (Object next = readOutbound(); next != null; next = readOutbound()) {
                last = next;
            }
            return last;
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return client;
        }

        @Override
        protected SocketAddress localAddress0() {
            return address("127.0.0.1:10911");
        }
    }

    static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }
}
