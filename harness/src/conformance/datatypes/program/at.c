
static long at(long i) /* the place of a byte of the message */
{
    long run = 0;
    for (i = BYTE; i >= runs[run].bytes; run++)
        i -= runs[run].bytes;
    return runs[run].at + i;
}
