package halfcheck.harness;

import java.io.File;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.broker.processor.SendMessageProcessor;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RemotingClient;
import org.apache.rocketmq.remoting.exception.RemotingTimeoutException;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** A master of another group, to which a slave lets halves escape that acts for its own one, and the way there. */
final class OtherMaster {
    private static final String NAME = "broker-b";
    private static final String ADDRESS = "127.0.0.1:10921";

    private final File folder;
    private final String topic;
    private final BrokerProcess process;
    private final Producers.Connection connection = new Producers().connection("127.0.0.1:10911");
    private boolean takesMessages = true;
    private boolean answers = true;

    OtherMaster(File folder, Map<String, String> settings) {
        this.folder = folder;
        this.topic = settings.get("topic");
        process = new BrokerProcess(folder, settings, false, new Producers());
    }

    BrokerProcess process() {
        return process;
    }

    File folder() {
        return folder;
    }

    /** Whether messages arrive, and whether their answers come back. */
    void network(boolean messagesArrive, boolean answersComeBack) {
        takesMessages = messagesArrive;
        answers = answersComeBack;
    }

    /** Lets a broker know the way here. */
    void route(BrokerProcess from) {
        Object routes = Reflection.call(from.broker, "getTopicRouteInfoManager");
        TopicPublishInfo queues = new TopicPublishInfo();
        queues.setMessageQueueList(List.of(new MessageQueue(topic, NAME, 0)));
        put(Reflection.get(routes, "topicPublishInfoTable"), topic, queues);
        put(Reflection.get(routes, "brokerAddrTable"), NAME, new HashMap<>(Map.of(0L, ADDRESS)));
        Reflection.set(from.broker.getBrokerOuterAPI(), "remotingClient", Proxy.newProxyInstance(
            OtherMaster.class.getClassLoader(), new Class<?>[] {RemotingClient.class}, (proxy, method, arguments) ->
                method.getName().equals("invokeSync") ? answer((RemotingCommand) arguments[1]) : null));
    }

    @SuppressWarnings("unchecked")
    private static void put(Object table, Object key, Object value) {
        ((Map<Object, Object>) table).put(key, value);
    }

    private RemotingCommand answer(RemotingCommand request) throws Exception {
        if (!takesMessages) {
            throw new RemotingTimeoutException("no answer");
        }
        RemotingCommand returned = new SendMessageProcessor(process.broker)
            .processRequest(connection.context(), transferred(request));
        Object written = connection.lastWritten();
        if (!answers) {
            throw new RemotingTimeoutException("no answer");
        }
        return transferred(returned == null ? (RemotingCommand) written : returned);
    }

    /** A command as the other side reads it. */
    private static RemotingCommand transferred(RemotingCommand command) throws Exception {
        ByteBuffer bytes = command.encode();
        bytes.getInt();
        return RemotingCommand.decode(bytes);
    }
}
