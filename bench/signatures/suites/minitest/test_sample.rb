require "minitest/autorun"
require "securerandom"
require "set"
require "socket"
require "tempfile"
require "tmpdir"
@S@
class Thing; end

def deep(level)
  level.zero? ? Integer("no number") : deep(level - 1)
end

class TestSample < Minitest::Test
  def test_passes
    assert_equal 2, 1 + 1
  end

  def test_value_of_a_sum
    assert_equal @V@, 1 + 2
  end
@S@
  def test_value_in_a_message
    flunk "the sum is not @V@"
  end

  def test_kind_of_error
    raise @K@, "the same words"
  end

  def test_renamed@N@
    raise "the same words"
  end

  def test_deep_error
    deep(3)
  end

  def test_address
    raise "cannot use #{Thing.new}"
  end

  def test_compare_objects
    assert_equal Thing.new, Thing.new
  end

  def test_temporary_directory
    Dir.mktmpdir { |directory| File.read(File.join(directory, "settings.json")) }
  end

  def test_temporary_file
    Tempfile.create(["run", ".log"]) { |file| raise "cannot lock #{file.path}" }
  end

  def test_project_file
    File.read(File.join(__dir__, "missing.txt"))
  end
@S@
  def test_time
    raise "late: #{Time.now}"
  end

  def test_elapsed
    raise "took #{Process.clock_gettime(Process::CLOCK_MONOTONIC) % 1} seconds"
  end

  def test_port
    server = TCPServer.new("127.0.0.1", 0)
    TCPServer.new("127.0.0.1", server.addr[1])
  end

  def test_connection_refused
    server = TCPServer.new("127.0.0.1", 0)
    port = server.addr[1]
    server.close
    TCPSocket.new("127.0.0.1", port)
  end

  def test_uuid
    raise "no session #{SecureRandom.uuid}"
  end

  def test_token
    raise "no object #{SecureRandom.hex(20)}"
  end

  def test_process_id
    raise "worker died (pid #{Process.pid})"
  end

  def test_nil
    nil.missing
  end

  def test_lines_of_text
    assert_equal "one\ntwo\nother\n", "one\ntwo\nvalue\n"
  end

  def test_value_in_a_hash
    assert_equal({ a: 1, b: 0 }, { a: 1, b: @V@ })
  end
end
