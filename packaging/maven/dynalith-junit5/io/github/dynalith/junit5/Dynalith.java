package io.github.dynalith.junit5;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives tests clients of the AWS SDK for Java, 1 and 2, and tables of their own.
 *
 * <p>On a field: that field. On a class: all its fields that have the type of a client or are a {@link io.github.dynalith.Namespace}, if nothing else is in them.
 * Parameters of tests and of methods before and after them get the same.
 *
 * <p>What methods before all tests make stays for the tests of the class; what a test changes is rolled back after it. Tests that run concurrently within a class have copies of
 * their own.
 */
@Documented
@ExtendWith(DynalithExtension.class)
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.FIELD})
public @interface Dynalith {
	/** On a class: templates and data that are there before its first test, as {@code dynalith apply} reads them. */
	String[] files() default {};

	/** On a class: the server is in this process, by libdynalith. Clients of the SDK 1 need a process of its own. */
	boolean inProcess() default false;
}
