/* libgit2 asks zlib for the rest of a loose object until it has come; of one that was cut short nothing comes any more, and
 * it asks for ever. Asked without input, and with nothing to give, inflate says here that the data are wrong. Linked by
 * --wrap (see build.rs). */
#include <zlib.h>

int __real_inflate(z_streamp stream, int flush);

int __wrap_inflate(z_streamp stream, int flush) {
    uInt in = stream->avail_in, room = stream->avail_out;
    int result = __real_inflate(stream, flush);
    return result == Z_BUF_ERROR && in == 0 && room != 0 && stream->avail_out == room ? Z_DATA_ERROR : result;
}
