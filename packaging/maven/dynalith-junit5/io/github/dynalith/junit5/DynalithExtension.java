package io.github.dynalith.junit5;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestInstances;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.opentest4j.TestAbortedException;

/** Is registered by {@link Dynalith}. */
public final class DynalithExtension implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {
	private static final ExtensionContext.Namespace KEYS = ExtensionContext.Namespace.create(DynalithExtension.class);
	private static final String CHECKPOINT = "test";

	/** The namespace of a class and of the classes nested in it, given back when its last test is over. */
	private static final class Shared implements ExtensionContext.Store.CloseableResource {
		final Run run;
		final Clients clients;

		Shared(ExtensionContext context) {
			Dynalith dynalith = context.getRequiredTestClass().getAnnotation(Dynalith.class);
			boolean isUsual = context.getConfigurationParameter("dynalith.inProcess").map(Boolean::parseBoolean).orElse(false);
			run = Run.of(context, isUsual || dynalith != null && dynalith.inProcess());
			clients = run.take();
			Path[] files = dynalith == null ? new Path[0] : new Path[dynalith.files().length];
			for (int i = 0; i < files.length; i++)
				files[i] = Paths.get(dynalith.files()[i]);
			if (files.length > 0)
				clients.namespace.apply(files);
		}

		@Override
		public void close() {
			run.giveBack(clients);
		}
	}

	/** What a test has. */
	private static final class Own {
		final Clients clients;
		final long logStart;

		Own(Clients clients, long logStart) {
			this.clients = clients;
			this.logStart = logStart;
		}
	}

	private static Shared shared(ExtensionContext context) {
		ExtensionContext outermost = context;
		for (Optional<ExtensionContext> parent = context.getParent(); parent.isPresent() && parent.get().getTestClass().isPresent(); parent = parent.get().getParent())
			outermost = parent.get();
		ExtensionContext owner = outermost;
		return owner.getStore(KEYS).getOrComputeIfAbsent(Shared.class, key -> new Shared(owner), Shared.class);
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		Clients clients = shared(context).clients;
		inject(context.getRequiredTestClass(), null, clients);
		context.getTestInstance().ifPresent(instance -> inject(instance.getClass(), instance, clients));
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		Shared shared = shared(context);
		long logStart = shared.run.logSize();
		boolean isAlone = context.getExecutionMode() != ExecutionMode.CONCURRENT;
		Clients clients = shared.clients;
		if (isAlone) {
			clients.namespace.checkpoint(CHECKPOINT);
		} else {
			clients = shared.run.take();
			shared.clients.namespace.copyTo(clients.namespace);
		}
		context.getStore(KEYS).put(Own.class, new Own(clients, logStart));
		boolean isOfAll = context.getTestInstanceLifecycle().orElse(null) == TestInstance.Lifecycle.PER_CLASS;
		List<Object> instances = context.getTestInstances().map(TestInstances::getAllInstances).orElse(Collections.emptyList());
		for (Object instance : instances)
			inject(instance.getClass(), instance, isOfAll ? shared.clients : clients);
	}

	@Override
	public void afterEach(ExtensionContext context) {
		Own own = context.getStore(KEYS).remove(Own.class, Own.class);
		if (own == null) // the test did not begin
			return;
		Shared shared = shared(context);
		Throwable problem = context.getExecutionException().orElse(null);
		if (problem != null && !(problem instanceof TestAbortedException)) {
			String log = shared.run.log(own.logStart);
			if (!log.isEmpty())
				System.err.println("log of dynalith during " + context.getDisplayName() + ":\n" + log);
		}
		if (own.clients == shared.clients) {
			own.clients.namespace.rollback(CHECKPOINT);
			own.clients.namespace.forget(CHECKPOINT);
			own.clients.namespace.clearFaults();
		} else {
			shared.run.giveBack(own.clients);
		}
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getDeclaringExecutable() instanceof Method && Clients.knows(parameter.getParameter().getType());
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		Own own = context.getStore(KEYS).get(Own.class, Own.class);
		return (own == null ? shared(context).clients : own.clients).get(parameter.getParameter().getType());
	}

	/** Sets the fields of an instance, or the static ones where it is null. */
	private static void inject(Class<?> type, Object instance, Clients clients) {
		boolean isAll = false;
		for (Class<?> c = type; c != null; c = c.getEnclosingClass())
			isAll |= c.isAnnotationPresent(Dynalith.class);
		for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
			for (Field field : c.getDeclaredFields()) {
				if (Modifier.isStatic(field.getModifiers()) == (instance == null))
					inject(field, instance, clients, isAll);
			}
		}
	}

	private static void inject(Field field, Object instance, Clients clients, boolean isAll) {
		boolean isNamed = field.isAnnotationPresent(Dynalith.class);
		if (!isNamed && (!isAll || !Clients.knows(field.getType()) || Modifier.isFinal(field.getModifiers())))
			return;
		if (!Clients.knows(field.getType()))
			throw new ExtensionConfigurationException("@Dynalith " + field + ": its type is none of " + Clients.known());
		try {
			field.setAccessible(true);
			if (isNamed || field.get(instance) == null)
				field.set(instance, clients.get(field.getType()));
		} catch (IllegalAccessException e) {
			throw new ExtensionConfigurationException("@Dynalith " + field, e);
		}
	}
}
