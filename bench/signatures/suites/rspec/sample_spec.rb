require "securerandom"
require "socket"
require "tmpdir"
@S@
class Thing; end

def deep(level)
  level.zero? ? Integer("no number") : deep(level - 1)
end

RSpec.describe "sample" do
  it "passes" do
    expect(1 + 1).to eq(2)
  end

  it "value of a sum" do
    expect(1 + 2).to eq(@V@)
  end
@S@
  it "value in a message" do
    raise "the sum is not @V@"
  end

  it "kind of error" do
    raise @K@, "the same words"
  end

  it "renamed@N@" do
    raise "the same words"
  end

  it "deep error" do
    deep(3)
  end

  it "address" do
    expect(Thing.new).to eq(nil)
  end

  it "temporary directory" do
    Dir.mktmpdir { |directory| File.read(File.join(directory, "settings.json")) }
  end

  it "project file" do
    File.read(File.join(__dir__, "missing.txt"))
  end
@S@
  it "time" do
    raise "late: #{Time.now}"
  end

  it "port" do
    server = TCPServer.new("127.0.0.1", 0)
    TCPServer.new("127.0.0.1", server.addr[1])
  end

  it "uuid" do
    raise "no session #{SecureRandom.uuid}"
  end

  it "process id" do
    raise "worker died (pid #{Process.pid})"
  end

  it "lines of text" do
    expect("one\ntwo\nvalue\n").to eq("one\ntwo\nother\n")
  end

  context "nested" do
    [1, @V@].each do |number|
      it "value with parameter #{number}" do
        expect(number).to be_nil
      end
    end
  end
end
