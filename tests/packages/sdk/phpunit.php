<?php
// As much of PHPUnit and of aws/aws-sdk-php as the first test of docs/languages/php.md needs:
//     php phpunit.php FILE
namespace PHPUnit\Framework {
    abstract class TestCase
    {
        public static int $assertions = 0;

        public function assertSame(mixed $expected, mixed $found): void
        {
            self::$assertions++;
            if ($expected !== $found) {
                throw new \Exception(var_export($found, true) . ' is not ' . var_export($expected, true));
            }
        }
    }
}

namespace Aws\DynamoDb {
    final class DynamoDbClient
    {
        public function __construct(private array $options)
        {
        }

        public function __call(string $operation, array $arguments): array
        {
            $head = ['X-Amz-Target: DynamoDB_20120810.' . ucfirst($operation), 'Content-Type: application/x-amz-json-1.0',
                'X-Amz-Date: 20260101T000000Z', 'Authorization: AWS4-HMAC-SHA256 Credential=' . $this->options['credentials']['key'] .
                '/20260101/' . $this->options['region'] . '/dynamodb/aws4_request, SignedHeaders=host, Signature=0'];
            $http = ['method' => 'POST', 'content' => json_encode($arguments[0]), 'header' => $head];
            return json_decode(file_get_contents($this->options['endpoint'], false, stream_context_create(['http' => $http])), true);
        }
    }
}

namespace {
    set_error_handler(function (int $level, string $text): never {
        throw new ErrorException($text);
    });
    require $argv[1];
    $class = basename($argv[1], '.php');
    $class::setUpBeforeClass();
    $tests = preg_grep('/^test/', get_class_methods($class));
    foreach ($tests as $test) {
        (new $class())->$test();
    }
    $many = fn (int $n, string $word) => $n . ' ' . $word . ($n === 1 ? '' : 's');
    echo 'OK (', $many(count($tests), 'test'), ', ', $many(PHPUnit\Framework\TestCase::$assertions, 'assertion'), ")\n";
}
