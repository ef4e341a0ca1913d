/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A macro for each pair of a list: CONGESTION_CONTROL is made of it. */
#ifndef DUMBBELL_EACH_H
#define DUMBBELL_EACH_H

/* DB_EACH(f, x, (a, b), (c, d)): f(x, a, b) f(x, c, d), for up to 13 pairs: as many as there are members. */
#define DB_EACH(f, x, ...)                                                                                             \
	DB_EACH_(__VA_ARGS__, DB_13, DB_12, DB_11, DB_10, DB_9, DB_8, DB_7, DB_6, DB_5, DB_4, DB_3, DB_2, DB_1)        \
	(f, x, __VA_ARGS__)
#define DB_EACH_(a, b, c, d, e, f, g, h, i, j, k, l, m, chosen, ...) chosen
#define DB_1(f, x, pair) DB_CALL(f, (x, DB_UNWRAP pair))
#define DB_2(f, x, pair, ...) DB_1(f, x, pair) DB_1(f, x, __VA_ARGS__)
#define DB_3(f, x, pair, ...) DB_1(f, x, pair) DB_2(f, x, __VA_ARGS__)
#define DB_4(f, x, pair, ...) DB_1(f, x, pair) DB_3(f, x, __VA_ARGS__)
#define DB_5(f, x, pair, ...) DB_1(f, x, pair) DB_4(f, x, __VA_ARGS__)
#define DB_6(f, x, pair, ...) DB_1(f, x, pair) DB_5(f, x, __VA_ARGS__)
#define DB_7(f, x, pair, ...) DB_1(f, x, pair) DB_6(f, x, __VA_ARGS__)
#define DB_8(f, x, pair, ...) DB_1(f, x, pair) DB_7(f, x, __VA_ARGS__)
#define DB_9(f, x, pair, ...) DB_1(f, x, pair) DB_8(f, x, __VA_ARGS__)
#define DB_10(f, x, pair, ...) DB_1(f, x, pair) DB_9(f, x, __VA_ARGS__)
#define DB_11(f, x, pair, ...) DB_1(f, x, pair) DB_10(f, x, __VA_ARGS__)
#define DB_12(f, x, pair, ...) DB_1(f, x, pair) DB_11(f, x, __VA_ARGS__)
#define DB_13(f, x, pair, ...) DB_1(f, x, pair) DB_12(f, x, __VA_ARGS__)
#define DB_UNWRAP(...) __VA_ARGS__
#define DB_CALL(f, arguments) f arguments

#endif
