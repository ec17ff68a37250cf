/* SPDX-License-Identifier: BSD-3-Clause */
/* A library of two versions: which one was found is what the layouts are about. */
#ifdef __cplusplus
extern "C"
#endif
    const char*
    where(void);
