"""Addresses of the API's version 1: data sets, traces, runs, audits."""

from django.urls import URLPattern, path

from auditing.api.v1 import (
    audits,
    benchmark_ratings,
    benchmark_runs,
    benchmarks,
    data,
    drafts,
    judges,
    reasoning,
    reasoning_judgements,
    reasoning_studies,
    runs,
    studies,
    study_audits,
    study_results,
)

urlpatterns: list[URLPattern] = [
    path("datasets/", data.DatasetList.as_view(), name="dataset-list"),
    path("datasets/<slug:slug>/", data.DatasetDetail.as_view(), name="dataset-detail"),
    path("traces/", data.TraceList.as_view(), name="trace-list"),
    path("traces/<int:pk>/", data.TraceDetail.as_view(), name="trace-detail"),
    path("runs/", runs.RunList.as_view(), name="run-list"),
    path("runs/plan/", runs.RunPlan.as_view(), name="run-plan"),
    path("runs/<int:pk>/", runs.RunDetail.as_view(), name="run-detail"),
    path("runs/<int:pk>/traces/", runs.RunTraces.as_view(), name="run-traces"),
    path("runs/<int:pk>/cancel/", runs.RunCancel.as_view(), name="run-cancel"),
    path("runs/<int:pk>/resume/", runs.RunResume.as_view(), name="run-resume"),
    path("judges/", judges.JudgeRunList.as_view(), name="judge-list"),
    path("judges/plan/", judges.JudgeRunPlan.as_view(), name="judge-plan"),
    path("judges/<int:pk>/", judges.JudgeRunDetail.as_view(), name="judge-detail"),
    path("judges/<int:pk>/cancel/", judges.JudgeRunCancel.as_view(), name="judge-cancel"),
    path("judges/<int:pk>/resume/", judges.JudgeRunResume.as_view(), name="judge-resume"),
    path("judges/<int:pk>/verdicts/", judges.JudgeRunVerdicts.as_view(), name="judge-verdicts"),
    path("audits/", audits.AuditList.as_view(), name="audit-list"),
    path("audits/<int:pk>/", audits.AuditDetail.as_view(), name="audit-detail"),
    path("audits/<int:pk>/edges/", audits.AuditEdges.as_view(), name="audit-edges"),
    path("audits/<int:pk>/what-if/", audits.AuditWhatIf.as_view(), name="audit-what-if"),
    path("audits/<int:pk>/flips/", audits.AuditFlips.as_view(), name="audit-flips"),
    path("audits/<int:pk>/trees/", audits.AuditTrees.as_view(), name="audit-trees"),
    path(
        "assignments/<uuid:assignment>/audit/",
        study_audits.AssignmentAudit.as_view(),
        name="assignment-audit",
    ),
    path(
        "adjudication/<uuid:item>/<int:index>/audit/",
        study_audits.AdjudicationAudit.as_view(),
        name="adjudication-audit",
    ),
    path(
        "refinements/<uuid:assignment>/drafts/",
        drafts.RefinementDrafts.as_view(),
        name="refinement-drafts",
    ),
    path(
        "refinements/<uuid:assignment>/drafts/<uuid:draft>/cancel/",
        drafts.RefinementDraftCancel.as_view(),
        name="refinement-draft-cancel",
    ),
    path(
        "reasoning-studies/<slug:slug>/",
        reasoning_studies.ReasoningStudyDocument.as_view(),
        name="reasoning-study",
    ),
    path(
        "reasoning-studies/<slug:slug>/sweep/",
        reasoning_studies.ReasoningStudySweep.as_view(),
        name="reasoning-sweep",
    ),
    path(
        "reasoning-runs/<int:pk>/",
        reasoning_studies.ReasoningRunDetail.as_view(),
        name="reasoning-run-detail",
    ),
    path(
        "reasoning-runs/<int:pk>/cancel/",
        reasoning_studies.ReasoningRunCancel.as_view(),
        name="reasoning-run-cancel",
    ),
    path(
        "reasoning-runs/<int:pk>/resume/",
        reasoning_studies.ReasoningRunResume.as_view(),
        name="reasoning-run-resume",
    ),
    path(
        "reasoning-studies/<slug:slug>/questions/<int:pk>/",
        reasoning.ReasoningQuestion.as_view(),
        name="reasoning-question",
    ),
    path(
        "reasoning-studies/<slug:slug>/judgements/",
        reasoning_judgements.ReasoningJudgements.as_view(),
        name="reasoning-judgements",
    ),
    path("benchmarks/", benchmarks.BenchmarkList.as_view(), name="benchmark-list"),
    path("benchmarks/<slug:slug>/", benchmarks.BenchmarkDetail.as_view(), name="benchmark-detail"),
    path("benchmarks/<slug:slug>/items/", benchmarks.BenchmarkItems.as_view(), name="benchmark-items"),
    path(
        "benchmark-runs/<int:pk>/", benchmark_runs.BenchmarkRunDetail.as_view(), name="benchmark-run-detail"
    ),
    path(
        "benchmark-runs/<int:pk>/cancel/",
        benchmark_runs.BenchmarkRunCancel.as_view(),
        name="benchmark-run-cancel",
    ),
    path(
        "benchmark-runs/<int:pk>/resume/",
        benchmark_runs.BenchmarkRunResume.as_view(),
        name="benchmark-run-resume",
    ),
    path(
        "benchmarks/<slug:slug>/ratings/",
        benchmark_ratings.BenchmarkRatings.as_view(),
        name="benchmark-ratings",
    ),
    path("studies/<slug:slug>/audit/", study_audits.ChosenAudit.as_view(), name="study-audit"),
    path("studies/<slug:slug>/agreement/", study_audits.StudyAgreement.as_view(), name="study-agreement"),
    path("studies/", studies.StudyList.as_view(), name="study-list"),
    path("studies/<slug:slug>/", studies.StudyDetail.as_view(), name="study-detail"),
    path("studies/<slug:slug>/uroreason/", studies.StudyTraces.as_view(), name="study-uroreason"),
    path("studies/<slug:slug>/results/", study_results.StudyResults.as_view(), name="study-results"),
]
