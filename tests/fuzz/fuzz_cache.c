/*
 * fuzz_cache.c - a frame of an earlier build, in a folder that others may fill: what is taken is what was put. The first byte:
 * even, the file as it stands; odd, with magic, key, length and hash put right.
 */
#include <string.h>

#include "builder/cache.h"
#include "dray/num.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 52, MOST = 4096 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[32] = { 1 };
	static struct dray_sha256 *h;
	static struct build_cache *c;
	static struct build_cached v;
	static char file[80];
	uint8_t buf[MOST + DRAY_SHA256_LEN];
	struct dray_err e = { .code = DRAY_OK };
	char hex[65];
	size_t len;

	if (c == NULL) {
		int dir = fuzz_folder();

		dray_hex(key, 32, hex);
		file[0] = hex[0];
		file[1] = hex[1];
		if (dray_sha256_new(&h, &e) != 0 || build_cache_open(fuzz_folder_name, &c, &e) != 0 || mkdirat(dir, file, 0700) != 0)
			abort();
		strcpy(file + 2, "/");
		strcpy(file + 3, hex + 2);
	}
	if (size < 1 || size - 1 > MOST)
		return 0;
	len = size - 1;
	memcpy(buf, data + 1, len);
	if ((data[0] & 1) != 0 && len >= HEAD) {
		memcpy(buf, "draycch1", 8);
		memcpy(buf + 8, key, 32);
		dray_put_u32(buf + 48, (uint32_t)(len - HEAD));
		if (dray_sha256_once(h, buf, len, buf + len, &e) != 0)
			abort();
		len += DRAY_SHA256_LEN;
	}
	fuzz_put(file, buf, len);
	if (build_cache_get(c, h, key, &v) && (v.len != len - HEAD - DRAY_SHA256_LEN || memcmp(v.p, buf + HEAD, v.len) != 0))
		abort();
	return 0;
}
