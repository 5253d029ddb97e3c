package io.github.dynalith;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tables of an account in a region. Namespaces of one server do not see each other. */
public class Namespace {
	private final URI url;
	private final String account, region;

	/** The account is a number of at most 12 digits. */
	public Namespace(URI url, long account, String region) {
		this.url = url;
		this.account = "000000000000".substring(Long.toString(account).length()) + account;
		this.region = region;
	}

	/** The address for clients of the SDK. */
	public URI url() {
		return url;
	}

	/** A number of 12 digits, and the access key of those who use these tables; any secret key will do. */
	public String account() {
		return account;
	}

	public String region() {
		return region;
	}

	/** Calls an endpoint under /_dynalith/ for these tables; the body is JSON, or null for none. Returns the answer, which is JSON. */
	public String control(String method, String path, String body) {
		try {
			return call(method, "/_dynalith/" + path + "?account=" + account + "&region=" + region, body == null ? "" : body);
		} catch (IOException e) {
			throw new DynalithException(method + " " + path + ": " + e.getMessage(), e);
		}
	}

	/** The body of an answer with status 200. */
	String call(String method, String target, String body) throws IOException {
		return Http.call(url, method, target, body);
	}

	private void post(String path, Object body) {
		control("POST", path, Json.of(body));
	}

	/** As new: no tables. */
	public void reset() {
		control("POST", "reset", null);
	}

	/** Marks a state that rollback returns to, any number of times. */
	public void checkpoint(String name) {
		post("checkpoints", Collections.singletonMap("name", name));
	}

	public void rollback(String name) {
		control("POST", "checkpoints/" + name + "/rollback", null);
	}

	/** Forgets the checkpoint; the state stays. */
	public void forget(String name) {
		control("DELETE", "checkpoints/" + name, null);
	}

	/** Copies these tables to another namespace, in the place of what it has. */
	public void copyTo(Namespace other) {
		Map<String, Object> body = new LinkedHashMap<>();
		body.put("from", account);
		body.put("to", Collections.singletonList(other.account));
		body.put("replace", true);
		post("clone", body);
	}

	/** Turns the clock on, by which time to live, streams, backups and throughput go. */
	public void advanceClock(Duration by) {
		post("clock", Collections.singletonMap("advance", by.toMillis() / 1000.0));
	}

	public void setClock(Instant to) {
		post("clock", Collections.singletonMap("set", to.toString()));
	}

	public void freezeClock(boolean isFrozen) {
		post("clock", Collections.singletonMap("freeze", isFrozen));
	}

	/** Sets the rules by which requests fail, in place of those there are. */
	public void setFaults(Fault... rules) {
		control("PUT", "faults", Json.of(Collections.singletonMap("rules", Arrays.asList(rules))));
	}

	/** How often each rule has fired. */
	public List<Integer> firedFaults() {
		List<Integer> fired = new ArrayList<>();
		for (Matcher matcher = Pattern.compile("\"fired\":(\\d+)").matcher(control("GET", "faults", null)); matcher.find();)
			fired.add(Integer.valueOf(matcher.group(1)));
		return fired;
	}

	public void clearFaults() {
		control("DELETE", "faults", null);
	}

	/** Makes the tables and items of templates, plans, exports, CSV: whatever {@code dynalith apply} reads. */
	public void apply(Path... files) {
		try {
			List<String> command = new ArrayList<>(Arrays.asList(Binary.find().toString(), "apply", "--endpoint", url.toString()));
			for (Path file : files)
				command.add(file.toString());
			ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectInput(new File("/dev/null"));
			builder.environment().put("AWS_ACCESS_KEY_ID", account);
			builder.environment().put("AWS_SECRET_ACCESS_KEY", "any");
			builder.environment().put("AWS_REGION", region);
			Process process = builder.start();
			String text = new String(Streams.read(process.getInputStream()), StandardCharsets.UTF_8);
			if (process.waitFor() != 0)
				throw new DynalithException(text.trim());
		} catch (IOException e) {
			throw new DynalithException("dynalith apply: " + e.getMessage(), e);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			throw new DynalithException("dynalith apply: interrupted", e);
		}
	}
}
