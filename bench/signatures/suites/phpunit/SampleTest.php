<?php
@S@
use PHPUnit\Framework\TestCase;

class Thing {}

function deep(int $level) {
    return $level === 0 ? intdiv(1, 0) : deep($level - 1);
}

final class SampleTest extends TestCase
{
    public function testPasses(): void { $this->assertSame(2, 1 + 1); }

    public function testValueOfASum(): void { $this->assertSame(@V@, 1 + 2); }
@S@
    public function testValueInAMessage(): void { $this->fail('the sum is not @V@'); }

    public function testKindOfError(): void { throw new @K@('the same words'); }

    public function testRenamed@N@(): void { throw new RuntimeException('the same words'); }

    public function testDeepError(): void { deep(3); }

    public function testObject(): void { $this->assertEquals(new Thing(), null); }

    public function testTemporaryFile(): void
    {
        $name = tempnam(sys_get_temp_dir(), 'run');
        unlink($name);
        throw new RuntimeException("cannot open $name");
    }

    public function testProjectFile(): void { throw new RuntimeException('cannot open ' . __DIR__ . '/missing.txt'); }
@S@
    public function testTime(): void { throw new RuntimeException('late: ' . date(DATE_ATOM)); }

    public function testElapsed(): void { throw new RuntimeException('took ' . (microtime(true) * 1000 % 1000) . ' ms'); }

    public function testPort(): void { throw new RuntimeException('127.0.0.1:' . random_int(32768, 60999) . ' is in use'); }

    public function testUuid(): void
    {
        throw new RuntimeException('no session ' . vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex(random_bytes(16)), 4)));
    }

    public function testProcessId(): void { throw new RuntimeException('worker died (pid ' . getmypid() . ')'); }

    public function testLines(): void { $this->assertSame("one\ntwo\nother\n", "one\ntwo\nvalue\n"); }

    public function testValueInAnArray(): void { $this->assertSame(['a' => 1, 'b' => 0], ['a' => 1, 'b' => @V@]); }

    /** @dataProvider numbers */
    public function testValueWithParameters(int $number): void { $this->assertSame(@V@ + 1, $number); }

    public static function numbers(): array { return ['one' => [1], 'two' => [2]]; }
}
