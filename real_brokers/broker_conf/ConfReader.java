import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;

/**
 * What Java makes of files that come on standard input, each behind its length. A line an answer: E where they can't be
 * loaded, else their keys and values, in hexadecimal UTF-16. With classes as arguments MixAll fills one of each, and of
 * each key with a setter a third and a fourth word follow: the field's value before and behind.
 */
public final class ConfReader {
    public static void main(String[] classes) throws Exception {
        List<Class<?>> configurations = new ArrayList<>();
        Map<Class<?>, Object> fresh = new HashMap<>();
        Method fill = null;
        for (String name : classes) {
            Class<?> type = Class.forName(name);
            configurations.add(type);
            fresh.put(type, type.getDeclaredConstructor().newInstance());
            fill = Class.forName("org.apache.rocketmq.common.MixAll")
                .getMethod("properties2Object", Properties.class, Object.class);
        }
        DataInputStream in = new DataInputStream(System.in);
        PrintStream out = new PrintStream(System.out, false);
        for (int count = in.readInt(); count > 0; count--) {
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            Properties properties = new Properties();
            try {
                properties.load(new ByteArrayInputStream(bytes));
            } catch (IllegalArgumentException e) {
                out.println("E");
                continue;
            }
            Map<String, Object> filled = new HashMap<>();
            for (Class<?> type : configurations) {
                Object made = type.getDeclaredConstructor().newInstance();
                fill.invoke(null, properties, made);
                for (Method method : type.getMethods()) {
                    String name = method.getName();
                    if (name.startsWith("set") && name.length() > 3) {
                        filled.putIfAbsent(name.substring(3, 4).toLowerCase() + name.substring(4), made);
                    }
                }
            }
            StringBuilder line = new StringBuilder("P");
            for (String key : new TreeSet<>(properties.stringPropertyNames())) {
                line.append(' ').append(hex(key)).append('=').append(hex(properties.getProperty(key)));
                Object made = filled.get(key);
                Field field = made == null ? null : field(made.getClass(), key);
                if (field != null) {
                    line.append('=').append(hex(String.valueOf(field.get(fresh.get(made.getClass())))));
                    line.append('=').append(hex(String.valueOf(field.get(made))));
                }
            }
            out.println(line);
        }
        out.flush();
        System.exit(0);
    }

    private static Field field(Class<?> type, String key) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if (field.getName().equals(key)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        return null;
    }

    private static String hex(String text) {
        StringBuilder hex = new StringBuilder();
        for (char c : text.toCharArray()) {
            for (int shift = 12; shift >= 0; shift -= 4) {
                hex.append(Character.forDigit(c >> shift & 15, 16));
            }
        }
        return hex.toString();
    }
}
