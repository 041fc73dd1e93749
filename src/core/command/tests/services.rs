//! Lines of clouds, databases, services, packages, keys, languages and web servers: which do not end, what is said of them,
//! and what to run instead. The lines that only read and those that do not are beside it (`services/*.txt`).

use super::*;

const READS: &str = include_str!("services/reads.txt");

const REFUSED: &str = include_str!("services/refused.txt");

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty()).collect()
}

#[test]
fn what_operators_type_to_look_is_a_read() {
    let lines = lines(READS);
    assert!(lines.len() > 150, "{}", lines.len());
    assert_reads(&lines);
}

#[test]
fn what_changes_runs_loads_sends_or_reveals_is_refused() {
    let lines = lines(REFUSED);
    assert!(lines.len() > 200, "{}", lines.len());
    assert_refused(&lines);
}

#[test]
fn what_goes_on_is_a_read_without_an_end() {
    assert_endless(&[
        ("aws logs tail /aws/lambda/fn --follow", Category::UnboundedStream),
        ("aws ec2 help", Category::Pager),
        ("az webapp log tail -g rg -n app", Category::UnboundedStream),
        ("az containerapp logs show -n a -g rg --follow", Category::UnboundedStream),
        ("gcloud logging tail 'severity>=ERROR'", Category::UnboundedStream),
        ("gcloud app logs tail -s default", Category::UnboundedStream),
        ("gcloud compute instances tail-serial-port-output web-1", Category::UnboundedStream),
        ("gcloud topic filters", Category::Pager),
        ("doctl apps logs app1 --follow", Category::UnboundedStream),
        ("cf logs app", Category::UnboundedStream),
        ("heroku logs --tail -a app", Category::UnboundedStream),
        ("fly logs -a app", Category::UnboundedStream),
        ("mysqladmin -i 1 status", Category::UnboundedStream),
        ("mongostat", Category::UnboundedStream),
        ("patronictl list -w 2", Category::UnboundedStream),
        ("consul monitor", Category::UnboundedStream),
        ("etcdctl watch /x", Category::UnboundedStream),
        ("kafka-console-consumer.sh --bootstrap-server k:9092 --topic t", Category::UnboundedStream),
        ("mosquitto_sub -h broker -t x", Category::UnboundedStream),
        ("supervisorctl tail -f web", Category::UnboundedStream),
        ("pm2 logs", Category::UnboundedStream),
        ("pm2 monit", Category::UnboundedStream),
        ("rabbitmq-diagnostics log_tail_stream", Category::UnboundedStream),
        ("snap logs -f lxd", Category::UnboundedStream),
        ("apt changelog nginx", Category::Pager),
        ("npm help ls", Category::Pager),
        ("openssl x509 -noout -text", Category::InteractiveRepl),
        ("varnishlog", Category::UnboundedStream),
        ("varnishstat", Category::UnboundedStream),
    ]);
}

#[test]
fn the_reason_names_what_it_does_and_the_option_or_sub_command() {
    let said = [
        ("aws ec2 terminate-instances --instance-ids i-1", "deletes what it names (aws ec2 terminate-instances)"),
        ("aws s3 cp s3://b/k /etc/x", "copies files (aws s3 cp)"),
        ("aws s3api get-object --bucket b --key k /tmp/out", "writes to a file (aws s3api get-object)"),
        (
            "aws ec2 describe-vpcs --endpoint-url http://x",
            "sends what it asks, signed, to http://x (aws ec2 describe-vpcs --endpoint-url)",
        ),
        ("aws secretsmanager get-secret-value --secret-id s", "reveals a secret (aws secretsmanager get-secret-value)"),
        ("gcloud compute instances delete list", "stops or deletes what it names (gcloud compute instances delete)"),
        ("az aks get-credentials -g rg -n a", "writes to the kubeconfig (az aks get-credentials)"),
        ("psql -f /tmp/x.sql -c 'select 1'", "runs the script /tmp/x.sql (psql -f)"),
        ("redis-cli --rdb /tmp/dump.rdb info", "writes to /tmp/dump.rdb (redis-cli --rdb)"),
        ("mysqladmin status shutdown", "runs more commands (mysqladmin status)"),
        ("rabbitmqctl purge_queue q", "deletes or closes what it names (rabbitmqctl purge_queue)"),
        ("kafka-topics.sh --list --delete", "deletes topics (kafka-topics.sh --delete)"),
        ("supervisorctl restart web", "stops or restarts what it names (supervisorctl restart)"),
        ("logrotate /etc/logrotate.conf", "rotates the logs (logrotate)"),
        ("certbot renew", "gets or changes certificates (certbot renew)"),
        ("apt install nginx", "installs or removes packages (apt install)"),
        ("apt-get install nginx --simulate=false", "installs or removes packages (apt-get install)"),
        ("apt list -o A::B=c", "sets A::B=c, which may name programs (apt list -o)"),
        ("dpkg -i x.deb", "installs packages (dpkg -i)"),
        ("npm run build", "runs the script it names (npm run)"),
        ("composer show", "loads the plugins of the project (use --no-plugins) (composer show)"),
        ("openssl x509 -in c.pem -out /tmp/x", "writes to /tmp/x (openssl x509 -out)"),
        ("openssl x509 -noout -in c.pem -engine x.so", "loads the code x.so (openssl x509 -engine)"),
        ("python3 -c 'print(1)'", "runs the program print(1) (python3 -c)"),
        ("nginx -s reload", "sends the signal reload to the web server (nginx -s)"),
        ("nginx", "starts the web server (nginx)"),
        ("etcdctl get / --strange", "the option --strange of `etcdctl get` is not known to only read"),
        ("vault frobnicate", "`vault frobnicate` is not known to only read"),
    ];
    for (line, reason) in said {
        assert_eq!(judge(line).reason, reason, "{line}");
    }
}

#[test]
fn what_goes_on_has_a_line_that_ends() {
    let better = [
        ("aws logs tail /aws/lambda/fn --follow", "aws logs tail /aws/lambda/fn"),
        ("cf logs app", "cf logs --recent app"),
        ("heroku logs --tail -a app", "heroku logs -n 200 -a app"),
        ("fly logs -a app", "fly logs --no-tail -a app"),
        ("pm2 logs web", "pm2 logs --nostream --lines 200 web"),
        ("snap logs -f lxd", "snap logs -n 200 lxd"),
        ("supervisorctl tail -f web", "supervisorctl tail web"),
        ("varnishstat", "varnishstat -1"),
    ];
    for (line, rewrite) in better {
        assert_eq!(judge(line).rewrite.as_deref(), Some(rewrite), "{line}");
    }
}
