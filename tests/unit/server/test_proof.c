#include "server/mask/proof.h"

#include "tests/unit/test.h"

TEST(originals_in_bytes_are_found)
{
	struct proof *proof = proof_new();

	proof_saw(proof, STR("short"), STR("hello"));
	proof_saw(proof, STR("Ann Miller"), STR("Xyz Abcdef"));
	proof_saw(proof, STR("Ann Miller"), STR("Xyz Abcdef"));
	proof_saw(proof, STR("Ann Millers"), STR("Xyz Qbcdefg"));
	proof_saw(proof, STR("1999-01-01"), STR("2000-01-01"));
	proof_saw(proof, STR("1998-01-01"), STR("1999-01-01"));
	struct proof_result result =
		proof_search(proof, STR("short 1999-01-01 Xyz Abcdef Ann Miller, Ann Mille"));
	CHECK_INT((int)result.looked_for, 3);
	CHECK_INT((int)result.passed_over, 1);
	CHECK_INT((int)result.found, 1);
	proof_free(proof);
}

/* A number's original may stand in the fake of another by chance. */
TEST(originals_in_fakes_are_passed_over)
{
	struct proof *proof = proof_new();

	proof_saw(proof, STR("345678"), STR("190244"));
	proof_saw(proof, STR("777777"), STR("333333"));
	proof_saw(proof, STR("11111111"), STR("12345678"));
	struct proof_result result = proof_search(proof, STR("190244 12345678 777777"));
	CHECK_INT((int)result.looked_for, 2);
	CHECK_INT((int)result.passed_over, 1);
	CHECK_INT((int)result.found, 1);
	proof_free(proof);
}

TEST(many_originals)
{
	struct proof *proof = proof_new();
	char text[32];

	for (int i = 0; i < 5000; i++) {
		int n = snprintf(text, sizeof(text), "original %d!", i);
		proof_saw(proof, (struct str){text, (size_t)n}, STR(""));
	}
	struct proof_result result = proof_search(proof, STR("..original 17!original 4999!"));
	CHECK_INT((int)result.looked_for, 5000);
	CHECK_INT((int)result.found, 2);
	proof_free(proof);
}

TEST_MAIN(TEST_CASE(originals_in_bytes_are_found), TEST_CASE(originals_in_fakes_are_passed_over),
	  TEST_CASE(many_originals))
