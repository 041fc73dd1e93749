//! Lines of clusters, containers, infrastructure and git: which do not end, what is said of them, and what to run
//! instead. Which only read and which do not is told in the modules below, a family each.

mod clusters;
mod containers;
mod git;
mod infrastructure;
mod kubernetes;

use super::{Category, assert_endless, judge};

const ENDLESS: &[(&str, Category)] = &[
    ("kubectl get pods -w", Category::UnboundedStream),
    ("kubectl get pods --watch", Category::UnboundedStream),
    ("kubectl logs -f api-0", Category::UnboundedStream),
    ("kubectl logs --follow api-0 -c app", Category::UnboundedStream),
    ("kubectl logs -fp api-0", Category::UnboundedStream),
    ("kubectl events -w", Category::UnboundedStream),
    ("kubectl exec -it api-0 -- ls", Category::TtyFlag),
    ("kubectl exec -ti api-0 -- ls -la /", Category::TtyFlag),
    ("kubectl -n prod logs -f deploy/api", Category::UnboundedStream),
    ("stern api", Category::UnboundedStream),
    ("stern -n prod api --tail 5", Category::UnboundedStream),
    ("argocd app logs api -f", Category::UnboundedStream),
    ("flux logs -f", Category::UnboundedStream),
    ("flux get all -w", Category::UnboundedStream),
    ("hubble observe -f", Category::UnboundedStream),
    ("cilium monitor", Category::UnboundedStream),
    ("linkerd viz tap deploy/api", Category::UnboundedStream),
    ("linkerd viz top deploy/api", Category::TtyFlag),
    ("docker logs -f api", Category::UnboundedStream),
    ("docker logs --follow --tail 10 api", Category::UnboundedStream),
    ("docker container logs -f api", Category::UnboundedStream),
    ("docker stats", Category::UnboundedStream),
    ("docker stats --no-stream=false api", Category::UnboundedStream),
    ("docker stats --no-stream --no-stream=false", Category::UnboundedStream),
    ("docker events", Category::UnboundedStream),
    ("docker events --since 1h", Category::UnboundedStream),
    ("docker wait api", Category::UnboundedStream),
    ("docker exec -it api ls", Category::TtyFlag),
    ("docker exec -t api ls", Category::TtyFlag),
    ("docker compose logs -f", Category::UnboundedStream),
    ("docker compose events", Category::UnboundedStream),
    ("docker compose stats", Category::UnboundedStream),
    ("docker compose exec -it api ls", Category::TtyFlag),
    ("docker-compose logs -f api", Category::UnboundedStream),
    ("docker service logs -f api", Category::UnboundedStream),
    ("podman logs -f api", Category::UnboundedStream),
    ("podman stats", Category::UnboundedStream),
    ("podman events", Category::UnboundedStream),
    ("nerdctl logs -f api", Category::UnboundedStream),
    ("crictl logs -f abc", Category::UnboundedStream),
    ("crictl stats --watch", Category::UnboundedStream),
    ("ctr events", Category::UnboundedStream),
    ("nomad alloc logs -f 8a2b", Category::UnboundedStream),
    ("nomad monitor", Category::UnboundedStream),
    ("nomad alloc exec -t 8a2b ls", Category::TtyFlag),
    ("gh run watch 1", Category::UnboundedStream),
    ("gh pr checks 12 --watch", Category::UnboundedStream),
    ("glab ci trace", Category::UnboundedStream),
    ("git -p log", Category::Pager),
    ("crictl exec -it abc ls", Category::TtyFlag),
];

const REASONS: &[(&str, &str)] = &[
    ("kubectl delete pod x", "deletes resources (kubectl delete)"),
    ("kubectl apply -f x.yaml", "applies x.yaml (kubectl apply -f)"),
    (
        "kubectl get pods --kubeconfig /tmp/x",
        "takes /tmp/x for its settings, which may run programs (kubectl get --kubeconfig)",
    ),
    ("kubectl -s https://x.example get pods", "sends the credentials to https://x.example (kubectl -s)"),
    ("kubectl config view --raw", "shows credentials (kubectl config view --raw)"),
    (
        "kubectl cluster-info dump --output-directory=/tmp/x",
        "saves to /tmp/x (kubectl cluster-info dump --output-directory)",
    ),
    ("kubectl foo", "`kubectl foo` is not known to only read"),
    ("kubectl exec x ls", "write `--` before the command that `kubectl exec` runs"),
    ("kubectl logs -f x", "goes on until somebody stops it (kubectl logs -f)"),
    ("helm template . --post-renderer /tmp/x", "runs /tmp/x (helm template --post-renderer)"),
    ("helm show values oci://x/y", "oci://x/y is not an address of the web"),
    ("kubectx prod", "switches to another cluster (kubectx)"),
    ("docker run busybox", "runs a new container (docker run)"),
    (
        "docker exec -e LD_PRELOAD=/x c ls",
        "sets LD_PRELOAD=/x for the program, which may run or load what it names (docker exec -e)",
    ),
    ("docker compose config -o /tmp/x", "writes to /tmp/x (docker compose config -o)"),
    ("docker -H tcp://x ps", "asks another machine by tcp://x, which may run a program (docker -H)"),
    ("docker stats", "goes on until somebody stops it (docker stats)"),
    ("podman --hooks-dir=/x ps", "may run /x (podman --hooks-dir)"),
    ("terraform plan", "runs the programs that the configuration names (terraform plan)"),
    ("terraform fmt", "rewrites files (terraform fmt)"),
    ("ansible all -a uptime", "runs uptime on the machines (ansible -a)"),
    (
        "ansible-inventory -i /tmp/x --list",
        "takes /tmp/x for its inventory, which may be a program (ansible-inventory -i)",
    ),
    ("puppet resource service nginx ensure=stopped", "changes a resource (puppet resource)"),
    ("gh api -X DELETE repos/a/b", "sends a DELETE request"),
    ("git -c core.pager=/x log", "sets core.pager=/x for git, which may run programs (git -c)"),
    ("git log --output=/tmp/x", "writes to /tmp/x (git log --output)"),
    ("git log --outp=/tmp/x", "the option --outp (--output) of `git log` is not known to only read"),
    ("git grep -O foo", "runs a program on what it finds (git grep -O)"),
    ("git branch new", "makes a branch (git branch)"),
    ("git stash", "puts local changes away (git stash)"),
    ("git config user.name x", "changes a setting, which may name a program (git config)"),
    ("git -p log", "shows a page and waits for a key (git -p)"),
];

#[test]
fn what_does_not_end_says_why() {
    assert_endless(ENDLESS);
}

#[test]
fn reasons_can_be_read() {
    for (line, reason) in REASONS {
        assert_eq!(judge(line).reason, *reason, "{line}");
    }
}

#[test]
fn what_does_not_end_has_a_line_instead() {
    for (line, instead) in [
        ("kubectl logs -f x", "kubectl logs --tail=200 --since=10m x"),
        ("docker logs -f x", "docker logs --tail=200 x"),
        ("kubectl -n prod logs -fp x", "kubectl -n prod logs --tail=200 --since=10m -p x"),
        ("docker exec -it c ls", "docker exec c ls"),
        ("kubectl exec -it x -- ls /", "kubectl exec x -- ls /"),
        ("docker stats", "docker stats --no-stream"),
        ("docker compose logs -f api", "docker compose logs --tail=200 api"),
        ("podman stats", "podman stats --no-stream"),
        ("kubectl get pods -w", "kubectl get pods"),
        ("docker logs --follow --tail 10 x", "docker logs --tail 10 x"),
        ("stern api", "stern --no-follow --tail=200 api"),
        ("crictl logs -f x", "crictl logs --tail=200 x"),
    ] {
        assert_eq!(judge(line).rewrite.as_deref(), Some(instead), "{line}");
    }
}

#[test]
fn a_line_instead_is_never_offered_for_what_changes_something() {
    for line in ["docker exec -it c rm x", "kubectl exec -it x -- rm y", "kubectl delete pod x", "docker logs -f x > y"]
    {
        assert_eq!(judge(line).rewrite, None, "{line}");
    }
}
