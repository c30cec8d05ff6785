# Plugins, devices, and everything that runs on them.
vyre_core_sources += \
	libvyre/backend/objects.h \
	libvyre/backend/answer.c \
	libvyre/backend/context.c \
	libvyre/backend/cache.c \
	libvyre/backend/cache.h \
	libvyre/backend/cache_directory.c \
	libvyre/backend/cache_frame.c \
	libvyre/backend/cache_key.c \
	libvyre/backend/search.c \
	libvyre/backend/elf.c \
	libvyre/backend/host_cpu.c \
	libvyre/backend/slots.c \
	libvyre/backend/negotiate.c \
	libvyre/backend/load.c \
	libvyre/backend/registry.c \
	libvyre/backend/device.c \
	libvyre/backend/admit.c \
	libvyre/backend/blob.c \
	libvyre/backend/compile.c \
	libvyre/backend/emit.c \
	libvyre/backend/kernel.c \
	libvyre/backend/optimize.c \
	libvyre/backend/request.c \
	libvyre/backend/buffer.c \
	libvyre/backend/overlap.c \
	libvyre/backend/set.c \
	libvyre/backend/batch.c \
	libvyre/backend/queue.c \
	libvyre/backend/waiter.c \
	libvyre/backend/submit.c \
	libvyre/backend/submission.c \
	libvyre/backend/timeline.c \
	libvyre/backend/print.c \
	libvyre/backend/run.c
