"""Addresses of the API's version 1: data sets, traces, runs, audits."""

from django.urls import URLPattern, path

from auditing.api.v1 import audits, data, runs

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
    path("audits/", audits.AuditList.as_view(), name="audit-list"),
    path("audits/<int:pk>/", audits.AuditDetail.as_view(), name="audit-detail"),
    path("audits/<int:pk>/edges/", audits.AuditEdges.as_view(), name="audit-edges"),
    path("audits/<int:pk>/what-if/", audits.AuditWhatIf.as_view(), name="audit-what-if"),
    path("audits/<int:pk>/flips/", audits.AuditFlips.as_view(), name="audit-flips"),
    path("audits/<int:pk>/trees/", audits.AuditTrees.as_view(), name="audit-trees"),
]
