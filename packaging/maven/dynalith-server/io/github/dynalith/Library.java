package io.github.dynalith;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import com.sun.jna.Callback;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;

/** An instance of libdynalith: see its header, dynalith.h. Any thread may call any method at any time. */
final class Library implements AutoCloseable {
	private static final int REQUEST_SIZE = 80, ANSWER_SIZE = 56, HEADER_SIZE = 16; // bytes of the structs: all members but two are 8
	private static final int ROOM_KEPT = 64 << 10; // bytes that stay with a thread for its requests

	/** Takes a line of the log. */
	interface Log extends Callback {
		void line(Pointer context, int level, Pointer text, long size);
	}

	private static final class Calls {
		static {
			try {
				Native.register(Calls.class, NativeLibrary.getInstance(Binary.findLibrary()));
			} catch (IOException e) {
				throw new DynalithException("dynalith: " + e.getMessage(), e);
			}
		}

		static native long dynalith_open(byte[] options, Log log, Pointer context);

		static native long dynalith_send(long instance, long request);

		static native int dynalith_apply(long instance, byte[] path, byte[] accessKey, byte[] region);

		static native void dynalith_free(long answer);

		static native void dynalith_close(long instance);

		static native Pointer dynalith_error();
	}

	/** Memory for a request of a thread: the struct, its headers, texts, the body. */
	private static final class Room {
		ByteBuffer bytes;
		long address;

		ByteBuffer of(int size) {
			if (bytes == null || bytes.capacity() < size) {
				bytes = ByteBuffer.allocateDirect(Math.max(size, ROOM_KEPT)).order(ByteOrder.nativeOrder());
				address = Pointer.nativeValue(Native.getDirectBufferPointer(bytes));
			}
			bytes.clear();
			return bytes;
		}
	}

	/** A status of 0: a fault rule closes the connection in place of an answer. Headers are names and values by turns. */
	static final class Answer {
		final int status;
		final List<String> headers;
		final byte[] body;

		Answer(int status, List<String> headers, byte[] body) {
			this.status = status;
			this.headers = headers;
			this.body = body;
		}
	}

	private static final ThreadLocal<Room> ROOM = ThreadLocal.withInitial(Room::new);
	private final ReadWriteLock lock = new ReentrantReadWriteLock(); // written by close() alone
	private final Log log; // a callback lives as long as Java knows it
	private long instance;

	/** Opens one with the server's options, by their names in its configuration file or by their flags. */
	Library(Map<String, Object> options, Log log) {
		this.log = log;
		instance = Calls.dynalith_open(text(Json.of(options)), log, null);
		if (instance == 0)
			throw refusal();
	}

	private static DynalithException refusal() {
		return new DynalithException("dynalith: " + Calls.dynalith_error().getString(0, "UTF-8"));
	}

	/** With the NUL that ends it. */
	private static byte[] text(String text) {
		return text == null ? null : (text + '\0').getBytes(StandardCharsets.UTF_8);
	}

	/** Headers are names and values by turns. Without an access key and a region, a signature among them says whose the tables are. */
	Answer send(String method, String path, List<String> headers, byte[] body, String accessKey, String region) {
		lock.readLock().lock();
		try {
			if (instance == 0)
				throw new IllegalStateException("dynalith: the instance is closed");
			long answer = Calls.dynalith_send(instance, request(method, path, headers, body, accessKey, region));
			if (answer == 0)
				throw refusal();
			try {
				return read(new Pointer(answer));
			} finally {
				Calls.dynalith_free(answer);
			}
		} finally {
			lock.readLock().unlock();
			Room room = ROOM.get();
			if (room.bytes != null && room.bytes.capacity() > ROOM_KEPT)
				ROOM.remove();
		}
	}

	private static long request(String method, String path, List<String> headers, byte[] body, String accessKey, String region) {
		List<byte[]> texts = new ArrayList<>(headers.size() + 4);
		int size = REQUEST_SIZE + headers.size() / 2 * HEADER_SIZE + body.length;
		for (String part : new String[] {method, path, accessKey, region})
			texts.add(text(part));
		for (String part : headers)
			texts.add(text(part));
		for (byte[] one : texts)
			size += one == null ? 0 : one.length;
		Room room = ROOM.get();
		ByteBuffer bytes = room.of(size);
		int start = REQUEST_SIZE + headers.size() / 2 * HEADER_SIZE;
		bytes.position(start);
		long[] at = new long[texts.size()];
		for (int i = 0; i < at.length; i++) {
			at[i] = texts.get(i) == null ? 0 : room.address + bytes.position();
			if (at[i] != 0)
				bytes.put(texts.get(i));
		}
		long bodyAt = room.address + bytes.position();
		bytes.put(body);
		bytes.position(0);
		bytes.putLong(REQUEST_SIZE).putLong(at[0]).putLong(at[1]).putLong(0).putLong(at[2]).putLong(at[3]);
		bytes.putLong(bodyAt).putLong(body.length).putLong(room.address + REQUEST_SIZE).putLong(headers.size() / 2);
		for (int i = 4; i < at.length; i++)
			bytes.putLong(at[i]);
		return room.address;
	}

	private static Answer read(Pointer at) {
		ByteBuffer answer = ByteBuffer.wrap(at.getByteArray(0, ANSWER_SIZE)).order(ByteOrder.nativeOrder());
		int status = answer.getInt();
		long crc32 = answer.getInt() & 0xFFFFFFFFL, id = answer.getLong(), type = answer.getLong(), body = answer.getLong();
		int size = (int) answer.getLong();
		Pointer list = new Pointer(answer.getLong());
		int count = (int) answer.getLong();
		List<String> headers = new ArrayList<>(2 * count + 8);
		for (int i = 0; i < 2 * count; i++)
			headers.add(list.getPointer(8L * i).getString(0, "UTF-8"));
		add(headers, "x-amzn-RequestId", new Pointer(id).getString(0, "UTF-8"));
		add(headers, "x-amz-crc32", Long.toString(crc32));
		if (type != 0)
			add(headers, "Content-Type", new Pointer(type).getString(0, "UTF-8"));
		add(headers, "Content-Length", Integer.toString(size));
		return new Answer(status, headers, size == 0 ? new byte[0] : new Pointer(body).getByteArray(0, size));
	}

	private static void add(List<String> headers, String name, String value) {
		headers.add(name);
		headers.add(value);
	}

	/** Makes the tables and items of a file or a folder. */
	void apply(String path, String accessKey, String region) {
		lock.readLock().lock();
		try {
			if (instance == 0)
				throw new IllegalStateException("dynalith: the instance is closed");
			if (Calls.dynalith_apply(instance, text(path), text(accessKey), text(region)) != 0)
				throw refusal();
		} finally {
			lock.readLock().unlock();
		}
	}

	/** Waits for the calls under way. */
	@Override
	public void close() {
		lock.writeLock().lock();
		try {
			if (instance != 0)
				Calls.dynalith_close(instance);
			instance = 0;
		} finally {
			lock.writeLock().unlock();
		}
	}
}
