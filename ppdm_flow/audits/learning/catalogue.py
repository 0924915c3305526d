"""The classifiers that a policy may name and their options, known without importing scikit-learn.

A closed list: nothing is imported that does not stand here. Left out are classifiers made of other classifiers, and
options that are objects, talk, or take processor cores; the audit gives `random_state` itself. A test holds the list
against scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Problem, Scope

_TREE = (
    "criterion splitter max_depth min_samples_split min_samples_leaf min_weight_fraction_leaf max_features"
    " max_leaf_nodes min_impurity_decrease class_weight ccp_alpha"
)
_FOREST = (
    "n_estimators criterion max_depth min_samples_split min_samples_leaf min_weight_fraction_leaf max_features"
    " max_leaf_nodes min_impurity_decrease bootstrap oob_score class_weight ccp_alpha max_samples"
)
_BAGGING = "n_estimators max_samples max_features bootstrap bootstrap_features oob_score"
_BOOSTING = (
    "loss learning_rate n_estimators subsample criterion min_samples_split min_samples_leaf min_weight_fraction_leaf"
    " max_depth min_impurity_decrease max_features max_leaf_nodes validation_fraction n_iter_no_change tol ccp_alpha"
)
_HISTOGRAM_BOOSTING = (
    "loss learning_rate max_iter max_leaf_nodes max_depth min_samples_leaf l2_regularization max_features max_bins"
    " early_stopping scoring validation_fraction n_iter_no_change tol class_weight"
)
_LOGISTIC = "penalty C l1_ratio dual tol fit_intercept intercept_scaling class_weight solver max_iter"
_LOGISTIC_CV = (
    "Cs l1_ratios fit_intercept cv dual penalty scoring solver tol max_iter class_weight refit intercept_scaling"
)
_DESCENT = (
    "loss penalty alpha l1_ratio fit_intercept max_iter tol shuffle epsilon learning_rate eta0 power_t early_stopping"
    " validation_fraction n_iter_no_change class_weight average"
)
_AGGRESSIVE = (
    "C fit_intercept max_iter tol early_stopping validation_fraction n_iter_no_change shuffle loss class_weight average"
)
_PERCEPTRON = (
    "penalty alpha l1_ratio fit_intercept max_iter tol shuffle eta0 early_stopping validation_fraction"
    " n_iter_no_change class_weight"
)
_NETWORK = (
    "hidden_layer_sizes activation solver alpha batch_size learning_rate learning_rate_init power_t max_iter shuffle"
    " tol momentum nesterovs_momentum early_stopping validation_fraction beta_1 beta_2 epsilon n_iter_no_change max_fun"
)
_VECTORS = (
    "kernel degree gamma coef0 shrinking probability tol cache_size class_weight max_iter decision_function_shape"
    " break_ties"
)
_LINEAR_VECTORS = "penalty loss dual tol C multi_class fit_intercept intercept_scaling class_weight max_iter"

_SHORT = {
    "tree": _TREE,
    "forest": _FOREST,
    "naive_bayes": "alpha force_alpha fit_prior class_prior",
    "logistic": _LOGISTIC,
}
_LONG = {
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": "solver shrinkage priors n_components tol",
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": "solver shrinkage priors reg_param tol",
    "sklearn.dummy.DummyClassifier": "strategy",
    "sklearn.ensemble.AdaBoostClassifier": "n_estimators learning_rate",
    "sklearn.ensemble.BaggingClassifier": _BAGGING,
    "sklearn.ensemble.ExtraTreesClassifier": _FOREST,
    "sklearn.ensemble.GradientBoostingClassifier": _BOOSTING,
    "sklearn.ensemble.HistGradientBoostingClassifier": _HISTOGRAM_BOOSTING,
    "sklearn.ensemble.RandomForestClassifier": _FOREST,
    "sklearn.gaussian_process.GaussianProcessClassifier": "n_restarts_optimizer max_iter_predict multi_class",
    "sklearn.linear_model.LogisticRegression": _LOGISTIC,
    "sklearn.linear_model.LogisticRegressionCV": _LOGISTIC_CV,
    "sklearn.linear_model.PassiveAggressiveClassifier": _AGGRESSIVE,
    "sklearn.linear_model.Perceptron": _PERCEPTRON,
    "sklearn.linear_model.RidgeClassifier": "alpha fit_intercept max_iter tol class_weight solver positive",
    "sklearn.linear_model.RidgeClassifierCV": "alphas fit_intercept scoring cv class_weight",
    "sklearn.linear_model.SGDClassifier": _DESCENT,
    "sklearn.naive_bayes.BernoulliNB": "alpha force_alpha binarize fit_prior class_prior",
    "sklearn.naive_bayes.CategoricalNB": "alpha force_alpha fit_prior class_prior min_categories",
    "sklearn.naive_bayes.ComplementNB": "alpha force_alpha fit_prior class_prior norm",
    "sklearn.naive_bayes.GaussianNB": "priors var_smoothing",
    "sklearn.naive_bayes.MultinomialNB": "alpha force_alpha fit_prior class_prior",
    "sklearn.neighbors.KNeighborsClassifier": "n_neighbors weights algorithm leaf_size p metric",
    "sklearn.neighbors.NearestCentroid": "metric shrink_threshold priors",
    "sklearn.neighbors.RadiusNeighborsClassifier": "radius weights algorithm leaf_size p metric outlier_label",
    "sklearn.neural_network.MLPClassifier": _NETWORK,
    "sklearn.semi_supervised.LabelPropagation": "kernel gamma n_neighbors max_iter tol",
    "sklearn.semi_supervised.LabelSpreading": "kernel gamma n_neighbors alpha max_iter tol",
    "sklearn.svm.LinearSVC": _LINEAR_VECTORS,
    "sklearn.svm.NuSVC": f"nu {_VECTORS}",
    "sklearn.svm.SVC": f"C {_VECTORS}",
    "sklearn.tree.DecisionTreeClassifier": _TREE,
    "sklearn.tree.ExtraTreeClassifier": _TREE,
}

CLASSIFIERS: Mapping[str, frozenset[str]] = {n: frozenset(o.split()) for n, o in (_SHORT | _LONG).items()}
"""Options by the name of the classifier."""

Option = str | tuple[str, ...]
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


def meant(name: str) -> str | None:
    """Return the name that was probably meant: a misspelt one, or the class without its module."""
    by_class = {n.rpartition(".")[2]: n for n in CLASSIFIERS}
    near = closest(name.rpartition(".")[2], by_class)
    return by_class[near] if near else closest(name, CLASSIFIERS)


def strange(name: str, options: Iterable[str]) -> tuple[str, ...]:
    """Return the options that a classifier does not have."""
    return tuple(o for o in options if o not in CLASSIFIERS[name])


def classifier_problems(name: str, options: Iterable[str]) -> tuple[Problem, ...]:
    """Say what is wrong with a classifier's name or with the names of its options."""
    if name not in CLASSIFIERS:
        near = meant(name)
        hint = f"did you mean `{near}`?" if near else None
        return (Problem("PPF834", f"`{name}` is no classifier that can be used here", ("classifier",), hint),)
    found = []
    for option in strange(name, options):
        near = closest(option, CLASSIFIERS[name])
        hint = f"did you mean `{near}`?" if near else None
        found.append(Problem("PPF835", f"`{name}` has no option `{option}`", ("options", option), hint))
    return tuple(found)


def targets(target: str | None, scope: Scope) -> tuple[list[AttributeFacts], tuple[Problem, ...]]:
    """Return the released attributes that are the class attribute, and what is wrong where there is none."""
    every = scope.attributes.values()
    if target is None:
        found = [a for a in every if a.role is Role.TARGET]
        text = "no attribute of the release has the role `target`: say which one with `target:`"
        return found, () if found else (Problem("PPF832", text),)
    found = [a for a in every if target in (a.name, a.source)]
    if found:
        return found, ()
    near = closest(target, [a.source or a.name for a in every])
    hint = f"did you mean `{near}`?" if near else None
    return found, (Problem("PPF832", f"the release has no attribute `{target}`", ("target",), hint),)


def typed(option: Option) -> Any:
    """Return the value that a text stands for: truth, nothing, a number, or a word; lists item by item.

    >>> typed("3"), typed("0.5"), typed("true"), typed("none"), typed("entropy"), typed(("20", "5"))
    (3, 0.5, True, None, 'entropy', (20, 5))
    """
    if not isinstance(option, str):
        return tuple(typed(item) for item in option)
    if option.lower() in _WORDS:
        return _WORDS[option.lower()]
    for kind in (int, float):
        try:
            return kind(option)
        except ValueError:
            continue
    return option
