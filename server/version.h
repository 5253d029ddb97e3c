/* version - the release. */
#ifndef DYNALITH_SERVER_VERSION_H
#define DYNALITH_SERVER_VERSION_H

#define DYNALITH_VERSION "0.2.0"

#endif
