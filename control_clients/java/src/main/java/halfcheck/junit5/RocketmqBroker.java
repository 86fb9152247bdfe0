package halfcheck.junit5;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Gives each test of a class, or one test, a broker of its own as a parameter of type {@link HalfcheckBroker}. Where a
 * method of {@code @BeforeAll} has that parameter, the whole class has one broker.
 *
 * <pre>{@code
 * @RocketmqBroker({"--profile", "5.3.3", "--clock", "virtual"})
 * class OrdersTest {
 *     @Test
 *     void anOrderIsShippedOnce(HalfcheckBroker broker) throws Exception {
 * }</pre>
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RocketmqBroker.Resolver.class)
public @interface RocketmqBroker {
    /** Options of {@code halfcheck broker}, a word each. */
    String[] value() default {};

    /** Starts the broker of a test when it is asked for first, and ends it behind the test. */
    final class Resolver implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
            return parameter.getParameter().getType() == HalfcheckBroker.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
            return test.getStore(Namespace.create(RocketmqBroker.class)) // of a test, or of the class around it
                .getOrComputeIfAbsent(HalfcheckBroker.class, any -> HalfcheckBroker.start(optionsOf(test)));
        }

        private static String[] optionsOf(ExtensionContext test) {
            return AnnotationSupport.findAnnotation(test.getElement(), RocketmqBroker.class)
                .or(() -> AnnotationSupport.findAnnotation(test.getTestClass(), RocketmqBroker.class))
                .map(RocketmqBroker::value).orElse(new String[0]);
        }
    }
}
