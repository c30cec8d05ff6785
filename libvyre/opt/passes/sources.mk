# One pass, one file.
vyre_core_sources += \
	libvyre/opt/passes/dce.c
