/*
 * lzma_write.c - the LZMA2 encoder of liblzma, one thread. A file of its own, so that dray-install does not link it.
 *
 * Same input and version of liblzma, same bytes. Preset 6: presets above it gained nothing over recompiled programs.
 */
#include <lzma.h>
#include <stdio.h>

#include "dray/frame.h"

#include "lzma_in.h"

int
dray_lzma_encode(const uint8_t *src, size_t len, const uint8_t *ref, size_t ref_len, uint8_t *dst, size_t cap,
    size_t *out_len, struct dray_err *e)
{
	lzma_options_lzma o;
	const lzma_filter chain[] = { { .id = LZMA_FILTER_LZMA2, .options = &o }, { .id = LZMA_VLI_UNKNOWN } };
	lzma_ret r;

	*out_len = 0;
	if (lzma_lzma_preset(&o, 6) || dray_lzma_window(ref_len, len, &o.dict_size, e) != 0)
		return dray_wrap(e, "encoder");
	o.preset_dict = ref_len != 0 ? ref : NULL;
	o.preset_dict_size = (uint32_t)ref_len;
	r = lzma_raw_buffer_encode(chain, NULL, src, len, dst, out_len, cap);
	if (r == LZMA_BUF_ERROR)
		return 1;
	if (r != LZMA_OK)
		return dray_fail(e, DRAY_E_IO, "encoder: liblzma gave up with %d", (int)r);
	return 0;
}

const char *
dray_lzma_id(void)
{
	static _Thread_local char id[32];

	snprintf(id, sizeof id, "lzma-%s", lzma_version_string());
	return id;
}
