import torch

import onepeak
from onepeak.methods.rps import RankedProbability
from onepeak.metrics.functional import ranked_probability_score

SCORES = torch.randn(9, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


def test_the_loss_is_the_metric_of_the_same_name():
    rps = RankedProbability(num_classes=5)
    expected = ranked_probability_score(rps.log_probs(SCORES), LABELS)
    torch.testing.assert_close(rps.loss(SCORES, LABELS, reduction="none"), expected)


def test_three_tenths_of_the_score_and_the_papers_loss_go_together():
    together = onepeak.method("rps+elb", num_classes=5, weight=0.3, cross_entropy_weight=1.0, t=2.0)
    rps, elb = onepeak.method("rps", num_classes=5), onepeak.method("elb", num_classes=5, t=2.0)
    torch.testing.assert_close(together.loss(SCORES, LABELS), 0.3 * rps.loss(SCORES, LABELS) + elb.loss(SCORES, LABELS))
