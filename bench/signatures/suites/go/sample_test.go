package sample
@S@
import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

type thing struct{ number int }

func TestPasses(t *testing.T) {}

func TestValueOfASum(t *testing.T) {
	if got := 1 + 2; got != @V@ {
		t.Errorf("got %d, want %d", got, @V@)
	}
}
@S@
func TestKindOfError(t *testing.T) {
	t.Fatal(@K@)
}

func TestRenamed@N@(t *testing.T) {
	t.Fatal("the same words")
}

func TestTemporaryDirectory(t *testing.T) {
	_, err := os.ReadFile(filepath.Join(t.TempDir(), "settings.json"))
	t.Fatal(err)
}

func TestTemporaryFile(t *testing.T) {
	file, _ := os.CreateTemp("", "run-*.log")
	defer os.Remove(file.Name())
	t.Fatalf("cannot lock %s", file.Name())
}

func TestProjectFile(t *testing.T) {
	here, _ := os.Getwd()
	_, err := os.ReadFile(filepath.Join(here, "missing.txt"))
	t.Fatal(err)
}

func TestAddress(t *testing.T) {
	t.Fatalf("cannot use %p", &thing{1})
}

func TestTime(t *testing.T) {
	t.Fatalf("late: %s", time.Now().Format(time.RFC3339Nano))
}
@S@
func TestElapsed(t *testing.T) {
	start := time.Now()
	time.Sleep(1500 * time.Microsecond)
	t.Fatalf("took %s", time.Since(start))
}

func TestPort(t *testing.T) {
	one, _ := net.Listen("tcp", "127.0.0.1:0")
	defer one.Close()
	_, err := net.Listen("tcp", one.Addr().String())
	t.Fatal(err)
}

func TestConnectionRefused(t *testing.T) {
	one, _ := net.Listen("tcp", "127.0.0.1:0")
	address := one.Addr().String()
	one.Close()
	_, err := net.Dial("tcp", address)
	t.Fatal(err)
}

func TestUuid(t *testing.T) {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	t.Fatalf("no session %x-%x-%x-%x-%x", bytes[0:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

func TestToken(t *testing.T) {
	bytes := make([]byte, 20)
	rand.Read(bytes)
	t.Fatalf("no object %x", bytes)
}

func TestSubprocess(t *testing.T) {
	t.Fatal(exec.Command("sh", "-c", "exit 3").Run())
}

func TestProcessId(t *testing.T) {
	t.Fatalf("worker died (pid %d)", os.Getpid())
}

func TestSeveralLines(t *testing.T) {
	t.Fatal("one\ntwo\nthree")
}

func TestTable(t *testing.T) {
	for _, number := range []int{1, @V@} {
		t.Run(fmt.Sprintf("value=%d", number), func(t *testing.T) {
			t.Errorf("%d is not 0", number)
		})
	}
	t.Run("deeper", func(t *testing.T) {
		t.Run("value of a nested test", func(t *testing.T) { t.Fatalf("got %v", []int{1, @V@}) })
	})
}

func TestWrapped(t *testing.T) {
	t.Fatal(fmt.Errorf("outer: %w", errors.New("inner")))
}
