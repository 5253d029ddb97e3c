package dynalith;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** The AWS SDK for Java 2.x against the server at DYNALITH_URL: client and enhanced client. */
public final class Main {
	static final URI URL = URI.create(System.getenv("DYNALITH_URL"));
	static final DynamoDbClient CLIENT = DynamoDbClient.builder().endpointOverride(URL).build();
	static final Map<String, Test> TESTS = new LinkedHashMap<>();

	interface Test {
		void run() throws Exception;
	}

	static void equal(Object got, Object want) {
		if (!Objects.equals(got, want))
			throw new AssertionError("got " + got + ", not " + want);
	}

	/** The exception of exactly this class that the call must end with. */
	static <T extends Exception> T fails(Class<T> kind, Test call) throws Exception {
		try {
			call.run();
		} catch (Exception e) {
			equal(e.getClass(), kind);
			return kind.cast(e);
		}
		throw new AssertionError("no " + kind);
	}

	static AttributeValue s(String value) {
		return AttributeValue.fromS(value);
	}

	static AttributeValue n(Object value) {
		return AttributeValue.fromN(value.toString());
	}

	static Map<String, AttributeValue> key(String pk, String sk) {
		return Map.of("PK", s(pk), "SK", s(sk));
	}

	/** How many requests the server has answered. */
	static int requests() throws Exception {
		var request = HttpRequest.newBuilder(URL.resolve("/_dynalith/metrics")).build();
		String text = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
		var line = Pattern.compile("^dynalith_requests_total\\{.*\\} (\\d+)$", Pattern.MULTILINE).matcher(text);
		return line.results().mapToInt(m -> Integer.parseInt(m.group(1))).sum();
	}

	public static void main(String[] arguments) {
		int failed = 0;
		Patterns.add();
		Enhanced.add();
		Errors.add();
		for (var test : TESTS.entrySet()) {
			try {
				test.getValue().run();
			} catch (Throwable problem) {
				failed++;
				System.err.println("e2e java: " + test.getKey() + " failed");
				problem.printStackTrace();
			}
		}
		System.out.printf("e2e java: %d passed, %d failed%n", TESTS.size() - failed, failed);
		System.exit(failed == 0 ? 0 : 1);
	}
}
