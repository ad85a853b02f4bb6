/*
 * lzma.c - the one door to liblzma's decoder: the LZMA2 data of one frame, exactly the declared bytes, or an error.
 * Source: spec/bundle-format.md 6.7; the coder is that of the .xz format, section 5.3.1, without its containers.
 */
#include <lzma.h>

#include "lzma_in.h"

int
dray_lzma_decode(const uint8_t *src, size_t src_len, const uint8_t *ref, size_t ref_len, uint8_t *dst, size_t dst_len,
    struct dray_err *e)
{
	lzma_options_lzma o = { 0 };
	const lzma_filter chain[] = { { .id = LZMA_FILTER_LZMA2, .options = &o }, { .id = LZMA_VLI_UNKNOWN } };
	size_t in = 0, out = 0;
	lzma_ret r;

	if (dray_lzma_window(ref_len, dst_len, &o.dict_size, e) != 0)
		return -1;
	o.preset_dict = ref_len != 0 ? ref : NULL;
	o.preset_dict_size = (uint32_t)ref_len;
	/* ends well only behind the end marker */
	r = lzma_raw_buffer_decode(chain, NULL, src, &in, src_len, dst, &out, dst_len);
	if (r == LZMA_MEM_ERROR)
		return dray_fail(e, DRAY_E_IO, "decoder: out of memory");
	if (r == LZMA_BUF_ERROR)
		return dray_fail(e, DRAY_E_FORMAT, "LZMA2 data holds more than the %zu bytes that were declared", dst_len);
	if (r != LZMA_OK)
		return dray_fail(e, DRAY_E_FORMAT, "damaged LZMA2 data");
	if (in != src_len)
		return dray_fail(e, DRAY_E_FORMAT, "%zu bytes follow the LZMA2 data", src_len - in);
	if (out != dst_len)
		return dray_fail(e, DRAY_E_FORMAT, "LZMA2 data gave %zu bytes, %zu were declared", out, dst_len);
	return 0;
}

int
dray_lzma_window(size_t ref_len, size_t len, uint32_t *window, struct dray_err *e)
{
	if (ref_len > LZMA_WINDOW_MAX || len > LZMA_WINDOW_MAX - ref_len)
		return dray_fail(e, DRAY_E_FORMAT, "%zu bytes against %zu are too many for LZMA2 here", len, ref_len);
	*window = (uint32_t)(ref_len + len);
	if (*window < LZMA_DICT_SIZE_MIN)
		*window = LZMA_DICT_SIZE_MIN;
	return 0;
}
