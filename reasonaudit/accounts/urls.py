"""Addresses of login, one's own account, people and invitations."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from .views import account, invitations, login, people, second_factor

app_name = "accounts"
urlpatterns = [
    path("", account.account, name="account"),
    path("login/", login.LoginView.as_view(), name="login"),
    path("login/code/", login.login_code, name="login_code"),
    path("relogin/", login.relogin, name="relogin"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", account.PasswordChangeView.as_view(), name="password_change"),
    path("password/<uidb64>/<token>/", account.SetPasswordView.as_view(), name="set_password"),
    path("second-factor/", second_factor.second_factor, name="second_factor"),
    path("second-factor/codes/", second_factor.second_factor_codes, name="second_factor_codes"),
    path("second-factor/off/", second_factor.second_factor_off, name="second_factor_off"),
    path("tokens/", account.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", account.token_revoke_view, name="token_revoke"),
    path("people/", people.people, name="people"),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/<int:pk>/role/", people.person_role, name="person_role"),
    path("people/<int:pk>/state/", people.person_state, name="person_state"),
    path("people/<int:pk>/second-factor/", people.person_second_factor, name="person_second_factor"),
    path("invitations/", invitations.invitations, name="invitations"),
    path("invitations/<int:pk>/revoke/", invitations.invitation_revoke_view, name="invitation_revoke"),
    path("invitation/<str:secret>/", invitations.invitation, name="invitation"),
]
