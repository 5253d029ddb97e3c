package io.github.dynalith;

/** The server did not start, or an endpoint of test control refused; the message says why. */
public class DynalithException extends RuntimeException {
	private static final long serialVersionUID = 1;

	public DynalithException(String message) {
		super(message);
	}

	public DynalithException(String message, Throwable cause) {
		super(message, cause);
	}
}
