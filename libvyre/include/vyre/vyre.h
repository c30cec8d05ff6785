/* All of vyre's public interface. */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include <vyre/config.h>
#include <vyre/device.h>
#include <vyre/diagnostic.h>
#include <vyre/ir.h>
#include <vyre/kernel.h>
#include <vyre/log.h>
#include <vyre/lower.h>
#include <vyre/opt.h>
#include <vyre/plan.h>
#include <vyre/status.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#endif
