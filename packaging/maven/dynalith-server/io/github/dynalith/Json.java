package io.github.dynalith;

import java.util.Map;

/** Writes what requests of test control are made of. */
final class Json {
	private Json() {
	}

	static String of(Object value) {
		StringBuilder out = new StringBuilder();
		write(out, value);
		return out.toString();
	}

	private static void write(StringBuilder out, Object value) {
		if (value instanceof Map)
			members(out, (Map<?, ?>) value);
		else if (value instanceof Iterable)
			elements(out, (Iterable<?>) value);
		else if (value instanceof Fault)
			members(out, ((Fault) value).members);
		else if (value == null || value instanceof Number || value instanceof Boolean)
			out.append(value);
		else
			text(out, value.toString());
	}

	private static void members(StringBuilder out, Map<?, ?> map) {
		String before = "{";
		for (Map.Entry<?, ?> member : map.entrySet()) {
			out.append(before);
			text(out, member.getKey().toString());
			out.append(':');
			write(out, member.getValue());
			before = ",";
		}
		out.append(map.isEmpty() ? "{}" : "}");
	}

	private static void elements(StringBuilder out, Iterable<?> list) {
		String before = "";
		out.append('[');
		for (Object element : list) {
			out.append(before);
			write(out, element);
			before = ",";
		}
		out.append(']');
	}

	private static void text(StringBuilder out, String text) {
		out.append('"');
		for (char c : text.toCharArray()) {
			if (c == '"' || c == '\\')
				out.append('\\').append(c);
			else if (c < ' ')
				out.append(String.format("\\u%04x", (int) c));
			else
				out.append(c);
		}
		out.append('"');
	}
}
