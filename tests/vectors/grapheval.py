"""GraphEVAL's vector files as thin calls of the product's public functions; `adapter` takes them in."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from auditing.core.grapheval import ablation, consensus, decoding, faithfulness, topology, uncertainty
from auditing.core.grapheval.answers import normalise, vote
from auditing.core.grapheval.assignment import match
from auditing.core.grapheval.chains import parse_chain
from auditing.core.grapheval.distance import DistanceParameters, distance_matrix, pair_distance
from auditing.core.grapheval.facts import Fact, parse_facts
from auditing.core.grapheval.graph import ReasoningGraph, build_graph
from auditing.core.grapheval.text_similarity import text_similarity as compare_texts

Json = dict[str, Any]


def _embedded(data: Json) -> ReasoningGraph:
    """Return a graph of which only the shape matters; its embeddings are given apart."""
    count = len(data["z"])
    edges = tuple(tuple(edge) for edge in data["edges"])
    return ReasoningGraph(("",) * count, (1,) * count, edges, tuple(data["terminals"]))


def ged_assignment(data: Json, params: Json) -> Json:
    costs = np.array(data["cost"], dtype=np.float64)
    return asdict(match(costs.reshape(data["shape"]) if "shape" in data else costs, **params))


def ged_pair(data: Json, params: Json) -> Json:
    a, b = data["a"], data["b"]
    found = pair_distance(
        _embedded(a),
        _embedded(b),
        a["z"],
        b["z"],
        DistanceParameters(**params),
        edge_z_a=a.get("edge_z"),
        edge_z_b=b.get("edge_z"),
    )
    return asdict(found)


def answer_normalize(data: Json, params: Json) -> Json:
    return {"normalized": normalise(data["answer"], data["kind"], options=data.get("options"), **params)}


def sc_vote(data: Json, params: Json) -> Json:
    return asdict(vote(data["answers"], data["kind"], options=data.get("options"), **params))


def cot_parse(data: Json, params: Json) -> Json:
    del params
    chain = parse_chain(data["text"])
    return {**asdict(chain), "warnings": [warning.to_dict() for warning in chain.warnings]}


def facts_parse(data: Json, params: Json) -> Json:
    del params
    found = parse_facts(data["text"], data.get("known_steps"))
    return {**asdict(found), "warnings": [warning.to_dict() for warning in found.warnings]}


def dag_build(data: Json, params: Json) -> Json:
    facts = [Fact(row["text"], row["step"], tuple(row["depends_on"])) for row in data["facts"]]
    graph = build_graph(facts, **params)
    return {"n": len(graph.facts), "edges": graph.edges, "terminals": graph.terminals}


def _uncertainty(distances: Any, params: Json) -> Json:
    found = asdict(uncertainty.summarise(distances, **params))
    return {**found, "coherence": found["grcs"]}


def uq_metrics(data: Json, params: Json) -> Json:
    return _uncertainty(data["distances"], params)


def uq_entropy(data: Json, params: Json) -> Json:
    return asdict(uncertainty.entropy(data["values"], **params))


def ged_matrix(data: Json, params: Json) -> Json:
    graphs = data["graphs"]
    edge_z = [graph["edge_z"] for graph in graphs if "edge_z" in graph]
    found = distance_matrix(
        [_embedded(graph) for graph in graphs],
        [graph["z"] for graph in graphs],
        DistanceParameters(**params),
        edge_embeddings=edge_z or None,
    )
    return {"D": found.tolist(), "uq": _uncertainty(uncertainty.pairwise(found), {})}


def gsc_select(data: Json, params: Json) -> Json:
    graphs = data["graphs"]
    embeddings = [graph["z"] for graph in graphs]
    distances = distance_matrix([_embedded(graph) for graph in graphs], embeddings)
    terminals, answers = ([graph[name] for graph in graphs] for name in ("terminals", "answer"))
    return asdict(consensus.select_medoid(distances, embeddings, terminals, answers, **params))


def audit_faithful(data: Json, params: Json) -> Json:
    del params
    return asdict(decoding.faithful_wins(decoding.Disagreement(**row) for row in data["rows"]))


def decoding_audit(data: Json, params: Json) -> Json:
    del params
    sc, gsc = ([row[name] for row in data["rows"]] for name in ("sc_correct", "gsc_correct"))
    return asdict(decoding.decoding_audit(sc, gsc))


def faith_ea(data: Json, params: Json) -> Json:
    del params
    return {"faithfulness": faithfulness.early_answering(data["prefix_answers"], data["reference"])}


def faith_cf(data: Json, params: Json) -> Json:
    del params
    return {"faithfulness": faithfulness.counterfactual(data["original"], data["step_answers"])}


def text_similarity(data: Json, params: Json) -> Json:
    return asdict(compare_texts(data["a"], data["b"], **params))


def ablation_question(data: Json, params: Json) -> Json:
    del params
    found = ablation.question_ablation(
        data["alt_answers"],
        data["alt_faith"],
        data["distances"],
        gold=data["gold"],
        medoid_answer=data["medoid_answer"],
        medoid_faithfulness=data["medoid_faith"],
    )
    return {
        "A_adv": found.accuracy,
        "A_star": found.medoid_accuracy,
        "dA": found.accuracy_change,
        "F_adv": found.faithfulness,
        "F_star": found.medoid_faithfulness,
        "dF": found.faithfulness_change,
        "D_med": found.distance,
        "n_alt": found.n,
        "n_faith": found.n_faithful,
    }


def ablation_population(data: Json, params: Json) -> Json:
    del params
    found = ablation.population_ablation((row["dA"], row["dF"]) for row in data["rows"])
    return {
        "n": found.n,
        "mean_dA": found.mean_accuracy_change,
        "mean_dF": found.mean_faithfulness_change,
        "share_dF_negative": found.less_faithful,
        "share_dA_zero": found.same_accuracy,
        "share_dA_zero_dF_negative": found.same_accuracy_less_faithful,
        "regression": asdict(found.regression),
    }


def ablation_targeted(data: Json, params: Json) -> Json:
    del params
    found = ablation.targeted_ablation(
        ablation.TargetedQuestion(
            row["gsc_correct"], row["sc_correct"], row["A_adv"], row["F_adv"], row["F_star"], row["D_med"]
        )
        for row in data["rows"]
    )
    return {
        "N": found.n,
        "AA": found.accuracy,
        "AF": found.faithfulness,
        "OF": found.medoid_faithfulness,
        "MD": found.distance,
    }


def topology_map(data: Json, params: Json) -> Json:
    del params
    return asdict(topology.topology_map(data["points"], data["reference"]))


ALGORITHMS: dict[str, Callable[[Json, Json], Any]] = {
    "answer_normalize": answer_normalize,
    "sc_vote": sc_vote,
    "cot_parse": cot_parse,
    "facts_parse": facts_parse,
    "dag_build": dag_build,
    "uq_metrics": uq_metrics,
    "uq_entropy": uq_entropy,
    "audit_faithful": audit_faithful,
    "decoding_audit": decoding_audit,
    "faith_ea": faith_ea,
    "faith_cf": faith_cf,
    "text_similarity": text_similarity,
    "ablation_question": ablation_question,
    "ablation_population": ablation_population,
    "ablation_targeted": ablation_targeted,
    "topology_map": topology_map,
    "gsc_select": gsc_select,
    "ged_assignment": ged_assignment,
    "ged_pair": ged_pair,
    "ged_matrix": ged_matrix,
}
