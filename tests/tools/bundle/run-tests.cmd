@echo off
rem Runs the tests of mixwalk on this machine and writes test-report.txt, to be sent in.
rem usage: run-tests.cmd [TEXT...]    only the tests whose names contain one of these
"%~dp0bin\run_tests.exe" %*
exit /b %errorlevel%
