"""Addresses of the API's version 1: people's work on studies."""

from django.urls import URLPattern, path

from annotation.api.v1 import (
    adjudication,
    assignments,
    document_adjudication,
    exchange,
    guidelines,
    proposals,
    refinements,
    vidat,
)

CASE = "assignments/<uuid:assignment>/"
QUESTION = "adjudication/<uuid:item>/document/"

urlpatterns: list[URLPattern] = [
    path(f"{CASE}", assignments.AssignmentDetail.as_view(), name="assignment-detail"),
    path(f"{CASE}segments/<int:index>/", assignments.AssignmentSegment.as_view(), name="assignment-segment"),
    path(
        f"{CASE}revisions/<int:index>/", assignments.AssignmentRevision.as_view(), name="assignment-revision"
    ),
    path(f"{CASE}submit/", assignments.AssignmentSubmit.as_view(), name="assignment-submit"),
    path(f"{CASE}recall/", assignments.AssignmentRecall.as_view(), name="assignment-recall"),
    path(f"{CASE}reveal/", assignments.AssignmentReveal.as_view(), name="assignment-reveal"),
    path(f"{CASE}tab/", assignments.AssignmentTab.as_view(), name="assignment-tab"),
    path("refinements/<uuid:assignment>/", refinements.RefinementDetail.as_view(), name="refinement-detail"),
    path(
        "refinements/<uuid:assignment>/operations/",
        refinements.RefinementOperations.as_view(),
        name="refinement-operations",
    ),
    path(
        "refinements/<uuid:assignment>/proposals/",
        proposals.RefinementProposals.as_view(),
        name="refinement-proposals",
    ),
    path(
        "refinements/<uuid:assignment>/proposals/<uuid:proposal>/",
        proposals.RefinementProposal.as_view(),
        name="refinement-proposal",
    ),
    path(
        "refinements/<uuid:assignment>/proposals/<uuid:proposal>/cancel/",
        proposals.RefinementProposalCancel.as_view(),
        name="refinement-proposal-cancel",
    ),
    path(
        "refinements/<uuid:assignment>/export/",
        exchange.RefinementFormats.as_view(),
        name="refinement-formats",
    ),
    path(
        "refinements/<uuid:assignment>/export/<slug:name>/",
        exchange.RefinementExport.as_view(),
        name="refinement-export",
    ),
    path(
        "refinements/<uuid:assignment>/import/",
        exchange.RefinementImport.as_view(),
        name="refinement-import",
    ),
    path("refinements/<uuid:assignment>/vidat/", vidat.RefinementVidat.as_view(), name="refinement-vidat"),
    path(f"{CASE}notes/", assignments.AssignmentNotes.as_view(), name="assignment-notes"),
    path(f"{CASE}flag/", refinements.AssignmentFlag.as_view(), name="assignment-flag"),
    path(f"{CASE}guideline/", assignments.AssignmentGuideline.as_view(), name="assignment-guideline"),
    path(f"{CASE}feedback/", assignments.AssignmentFeedback.as_view(), name="assignment-feedback"),
    path(f"{CASE}others/", assignments.AssignmentOthers.as_view(), name="assignment-others"),
    path(
        "studies/<slug:slug>/adjudication/",
        adjudication.AdjudicationQueue.as_view(),
        name="adjudication-queue",
    ),
    path("adjudication/<uuid:item>/", adjudication.AdjudicationItem.as_view(), name="adjudication-item"),
    path(
        "adjudication/<uuid:item>/return/",
        adjudication.AdjudicationReturn.as_view(),
        name="adjudication-return",
    ),
    path(
        "adjudication/<uuid:item>/<int:index>/",
        adjudication.AdjudicationSegment.as_view(),
        name="adjudication-segment",
    ),
    path(
        "adjudication/<uuid:item>/<int:index>/reopen/",
        adjudication.AdjudicationReopen.as_view(),
        name="adjudication-reopen",
    ),
    path(
        "adjudication/<uuid:item>/<int:index>/flag/",
        adjudication.AdjudicationFlag.as_view(),
        name="adjudication-flag",
    ),
    path(QUESTION, document_adjudication.AdjudicationDocument.as_view(), name="adjudication-document"),
    path(
        f"{QUESTION}operations/",
        document_adjudication.AdjudicationDocumentOperations.as_view(),
        name="adjudication-document-operations",
    ),
    path(
        f"{QUESTION}decide/",
        document_adjudication.AdjudicationDocumentDecide.as_view(),
        name="adjudication-document-decide",
    ),
    path(
        f"{QUESTION}reopen/",
        document_adjudication.AdjudicationDocumentReopen.as_view(),
        name="adjudication-document-reopen",
    ),
    path(
        f"{QUESTION}return/",
        document_adjudication.AdjudicationDocumentReturn.as_view(),
        name="adjudication-document-return",
    ),
    path("studies/<slug:slug>/guideline/", guidelines.StudyGuideline.as_view(), name="guideline"),
]
