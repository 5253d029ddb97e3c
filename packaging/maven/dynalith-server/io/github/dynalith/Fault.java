package io.github.dynalith;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** A rule by which requests fail: {@code Fault.on("PutItem").first(2).error("ThrottlingException")}. */
public final class Fault {
	final Map<String, Object> members = new LinkedHashMap<>();

	private Fault() {
	}

	/** A rule for these operations; without a name, for all. */
	public static Fault on(String... operations) {
		Fault fault = new Fault();
		return operations.length == 0 ? fault : fault.with("operation", Arrays.asList(operations));
	}

	/** Any other member: maps, lists, texts, numbers. */
	public Fault with(String name, Object value) {
		members.put(name, value);
		return this;
	}

	public Fault table(String name) {
		return with("table", name);
	}

	/** It fires for the first matches only. */
	public Fault first(int matches) {
		return with("first", matches);
	}

	public Fault nth(int match) {
		return with("nth", match);
	}

	public Fault every(int matches) {
		return with("every", matches);
	}

	/** The error of the API that is the answer. */
	public Fault error(String name) {
		return with("error", name);
	}

	public Fault latency(long milliseconds) {
		return with("latency", milliseconds);
	}
}
