package halfcheck.harness;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Fields and methods by name, of a class or of those above it: what is private in one release is so in all. */
final class Reflection {
    private static final Map<Class<?>, Map<String, Optional<Field>>> FIELDS = new ConcurrentHashMap<>();
    private static final Map<Class<?>, Map<String, Optional<Method>>> METHODS = new ConcurrentHashMap<>();

    private Reflection() { }

    static Object get(Object of, String name) {
        try {
            return field(of.getClass(), name).get(of);
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    static void set(Object of, String name, Object value) {
        try {
            field(of.getClass(), name).set(of, value);
        } catch (IllegalAccessException error) {
            throw new IllegalStateException(error);
        }
    }

    static boolean hasField(Object of, String name) {
        return find(of.getClass(), name) != null;
    }

    static boolean hasMethod(Object of, String name, int parameters) {
        return findMethod(of.getClass(), name, parameters) != null;
    }

    /** Calls the method of that name and number of parameters. */
    static Object call(Object of, String name, Object... arguments) {
        Method method = findMethod(of.getClass(), name, arguments.length);
        if (method == null) {
            throw new IllegalStateException(of.getClass() + " has no method " + name + " of " + arguments.length);
        }
        try {
            return method.invoke(of, arguments);
        } catch (InvocationTargetException error) {
            throw new IllegalStateException(error.getCause());
        } catch (IllegalAccessException | IllegalArgumentException error) {
            throw new IllegalStateException(of.getClass() + "." + name + ": " + error.getMessage());
        }
    }

    /** Sets a property of a configuration; one that a release does not have is left alone. */
    static void configure(Object configuration, String property, Object value) {
        String setter = "set" + property.substring(0, 1).toUpperCase() + property.substring(1);
        if (hasMethod(configuration, setter, 1)) {
            call(configuration, setter, value);
        }
    }

    private static Field field(Class<?> in, String name) {
        Field found = find(in, name);
        if (found == null) {
            throw new IllegalStateException(in + " has no field " + name);
        }
        return found;
    }

    private static Field find(Class<?> in, String name) {
        return FIELDS.computeIfAbsent(in, each -> new ConcurrentHashMap<>())
            .computeIfAbsent(name, each -> Optional.ofNullable(search(in, each))).orElse(null);
    }

    private static Field search(Class<?> in, String name) {
        for (Class<?> each = in; each != null; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        return null;
    }

    private static Method findMethod(Class<?> in, String name, int parameters) {
        return METHODS.computeIfAbsent(in, each -> new ConcurrentHashMap<>())
            .computeIfAbsent(name + parameters, each -> Optional.ofNullable(searchMethod(in, name, parameters)))
            .orElse(null);
    }

    private static Method searchMethod(Class<?> in, String name, int parameters) {
        for (Class<?> each = in; each != null; each = each.getSuperclass()) {
            Method found = Arrays.stream(each.getDeclaredMethods())
                .filter(method -> method.getName().equals(name) && method.getParameterCount() == parameters)
                .filter(method -> !method.isBridge())
                .findFirst().orElse(null);
            if (found != null) {
                found.setAccessible(true);
                return found;
            }
        }
        return null;
    }
}
