/* Two members of each structure in an array.
 * ddtbench run --layout 'contiguous(20000, resized(0, 64, struct([3, 1], [8, 56], [double, int32])))' --pack particles.c */
#include <string.h>
struct particle { int cell; double x[3], v[3]; int id; };
enum { PARTICLES = 20000 };

void pack(const struct particle *particles, char *message)
{
    for (int i = 0; i < PARTICLES; i++, message += sizeof particles->x + sizeof particles->id) {
        memcpy(message, particles[i].x, sizeof particles[i].x);
        memcpy(message + sizeof particles[i].x, &particles[i].id, sizeof particles[i].id);
    }
}

void unpack(const char *message, struct particle *particles)
{
    for (int i = 0; i < PARTICLES; i++, message += sizeof particles->x + sizeof particles->id) {
        memcpy(particles[i].x, message, sizeof particles[i].x);
        memcpy(&particles[i].id, message + sizeof particles[i].x, sizeof particles[i].id);
    }
}
