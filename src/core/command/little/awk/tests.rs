//! Programs of `awk` that people on duty type, programs that do more than they look like, and what holds for all of them.

use proptest::prelude::*;

use super::judge;

const READING: &[&str] = &[
    "{print $1}",
    "{ print $1, $3 }",
    "{print $NF}",
    "{print $(NF-1)}",
    "NR==1",
    "NR > 1",
    "NR%2",
    "NR%2==0",
    "NR>=10 && NR<=20",
    "END{print NR}",
    "{s+=$1} END {print s}",
    "{s+=$5} END {print s/NR}",
    "{s += $5; n++} END {if (n > 0) print s / n; else print \"none\"}",
    "{s+=$5} END {print s/1024/1024 \" MB\"}",
    "{c[$1]++} END {for (k in c) print c[k], k}",
    "{c[$1]++} END{for(k in c)print k\": \"c[k]}",
    "{a[$1]+=$2} END {for (k in a) printf \"%-20s %10.2f\\n\", k, a[k]}",
    "!seen[$0]++",
    "!_[$0]++",
    "BEGIN{FS=\":\"} {print $1}",
    "BEGIN { FS = \":\"; OFS = \"\\t\" } { print $1, $7 }",
    "BEGIN {while (i < 10) {print i; i++}}",
    "BEGIN{for(i=0;i<5;i++)print i}",
    "BEGIN { print 1/3 }",
    "BEGIN { print strftime(\"%F %T\", 1700000000) }",
    "$3 > 90 {print}",
    "$3>90",
    "$5+0 > 80 {print $6, $5}",
    "{if ($5 > 80) print $1}",
    "{ if ($5 > 80) { print $1 } else { print \"ok\" } }",
    "{if($3>=500&&$3<600)n++}END{print n+0}",
    "{print ($3 > 5 ? \"a\" : \"b\")}",
    "{ print ($3 > 5) }",
    "{ print($1, ($2 > 3)) }",
    "{ x = $3 > 5; print x }",
    "{ print length($0 > 3) }",
    "/error/",
    "/error/ {print}",
    "/ERROR|FATAL/ { n++ } END { print n }",
    "!/DEBUG/",
    "/error/ && !/timeout/",
    "/start/,/end/",
    "$1 ~ /^10\\./ {print $1}",
    "$9 !~ /^2/ {print $9, $7}",
    "$9 ~ /^5[0-9][0-9]$/ {c[$7]++} END {for (u in c) print c[u], u}",
    "$0 ~ \"x|y\"",
    "$4 >= \"[10/Oct/2023:13:00\" && $4 <= \"[10/Oct/2023:14:00\"",
    "$1\" \"$2 >= \"2024-01-01 10:00\" && $1\" \"$2 < \"2024-01-01 11:00\"",
    "$3 >= \"10:00:00\" && $3 <= \"10:05:00\" {print}",
    "{gsub(/\"/, \"\"); print $1}",
    "{gsub(/[][]/,\"\"); print}",
    "{gsub(/[\\/]/, \"_\"); print}",
    "{gsub(/\\//, \"_\"); print $1/2}",
    "{sub(/%$/, \"\", $5); if ($5 > 90) print $6}",
    "gsub(/foo/,\"bar\")",
    "{match($0, /\\[[^\\]]*\\]/); print substr($0, RSTART, RLENGTH)}",
    "{match($0, /took ([0-9]+)ms/, m); if (m[1] > 500) print}",
    "{split($4, t, \":\"); h[t[2]]++} END {for (k in h) print k, h[k]}",
    "{print toupper(substr($1,1,1)) substr($1,2)}",
    "{print tolower($0)}",
    "{print index($0, \"|\")}",
    "{print \"a | b > c\"}",
    "{print \"say \\\"hi\\\" > now\"}",
    "{printf \"%s\\n\", $1}",
    "{printf(\"%5d %s\\n\", NR, $0)}",
    "{ printf \"%-30s %8d\\n\", $1, $2 } # a table | with > signs",
    "length > 80",
    "length($0) > 80 {print FILENAME\":\"FNR}",
    "NF",
    "NF==0 {next} {print}",
    "{$1=\"\"; print}",
    "{$1=$1};1",
    "1",
    "NR==FNR{a[$1]=$2;next} $1 in a{print $0,a[$1]}",
    "NR==FNR {a[$1]; next}\n!($1 in a)",
    "FILENAME == ARGV[1] { a[$1]; next } ($1 in a)",
    "{ if (($1,$2) in a) print }",
    "{max=($1>max)?$1:max} END{print max}",
    "NR==1||$1<min{min=$1} END{print min}",
    "$1>m{m=$1;l=$0}END{print l}",
    "{a[NR]=$0} END {for (i=NR; i>0; i--) print a[i]}",
    "{ while ((getline line) > 0) n++ } END { print n }",
    "/x/ { getline; print }",
    "/x/ { getline nextline; print nextline }",
    "BEGIN { while ((getline line < \"/etc/hosts\") > 0) print line }",
    "BEGIN { getline up < \"/proc/uptime\"; print up }",
    "BEGIN { while ((getline l < \"/dev/stdin\") > 0 && l > 3) n++; close(\"/dev/stdin\") }",
    "BEGIN { while ((getline l < \"/etc/hosts\") > 0 && n < 5) n++; print n }",
    "{ print \"bad\" > \"/dev/stderr\" }",
    "{ print $1 > \"/dev/stdout\"; n++ }",
    "{ printf \"%s\\n\", $1 >> \"/dev/stderr\" }",
    "BEGIN { PROCINFO[\"sorted_in\"] = \"@val_num_desc\" } {c[$1]++} END { for (k in c) print k, c[k] }",
    "{a[$1]=$2} END {n = asorti(a, b); for (i = 1; i <= n; i++) print b[i], a[b[i]]}",
    "function max(a, b) { return a > b ? a : b }\n{ m = max(m, $1) }\nEND { print m }",
    "func f(x){return x*2}{print f($1)}",
    "BEGIN { RS = \"\"; FS = \"\\n\" } { print $1 }",
    "{ print $1,\n  $2,\n  $3 }",
    "$1 > 3 &&\n$2 < 4 { print }",
    "{ print $1, \\\n  $2 }",
    "{ do { i++ } while (i < 3)\n print i }",
    "{ for (i = 1; i <= NF; i++) if ($i ~ /^user=/) print $i }",
    "{ delete a[$1]; exit 1 }",
    "{ switch ($1) { case \"a\": print 1; break; default: print 2 } }",
    "BEGIN{print ENVIRON[\"HOME\"]}",
    "BEGIN { srand(); print int(rand() * 10) }",
    "{ print \"größer → |\" }",
    "",
    "# nothing\n",
    "BEGIN {\n  # a comment with \" and / and | in it\n  print 1\n}\n\nEND {\n  print 2\n}\n",
    "{t=substr($2,1,5); c[t]++} END{for(k in c) print k, c[k]}",
];

/// Programs that are refused: the second half holds those that a reader with weaker eyes would take for harmless.
const REFUSED: &[&str] = &[
    "BEGIN{system(\"id\")}",
    "{system(\"rm \" $1)}",
    "{ system (\"id\") }",
    "BEGIN { if (system(\"test -e /tmp/x\")) print }",
    "BEGIN{\"date\"|getline d; print d}",
    "BEGIN { \"id\" | getline }",
    "BEGIN { while ((\"ls\" | getline f) > 0) print f }",
    "{print | \"sort\"}",
    "{print $1 | \"sh\"}",
    "{print |\"cat 1>&2\"}",
    "{printf \"%s\\n\", $1 | \"mail root\"}",
    "{print |& \"cat\"}",
    "BEGIN { \"cat\" |& getline x }",
    "BEGIN{c=\"id\"; c | getline; print}",
    "{print > \"/tmp/x\"}",
    "{print $1 > \"/tmp/x\"}",
    "{print>\"/tmp/x\"}",
    "{print >> \"/tmp/x\"}",
    "{printf \"x\" > \"/etc/cron.d/x\"}",
    "{printf(\"%s\", $1) > \"/tmp/x\"}",
    "{print($1) > \"/tmp/x\"}",
    "{print ($1)($2) > \"/tmp/x\"}",
    "{print ($1, $2) > \"/tmp/x\"}",
    "{print > $1}",
    "{print > $1\".txt\"}",
    "{print > (\"/tmp/\" $1)}",
    "{print > FILENAME \".bak\"}",
    "{ print $1 > 5 }",
    "{ print $1>5?\"a\":\"b\" }",
    "{ print $1 >= 5 }",
    "{ print > \"/dev/stdout\" \"x\" }",
    "{ print > \"/dev/stdout\" $1 }",
    "{ print > \"/dev/stderr/../../tmp/x\" }",
    "{ print > \"/dev/tcp\" }",
    "{ print > \"/dev/fd/3\" }",
    "{ print > \"\\/dev/stdout\" }",
    "{ print > /dev/ }",
    "{ if ($1) print; else print > \"/tmp/x\" }",
    "{ for (;;) print > \"/tmp/x\" }",
    "$1 > 3 { print > \"x\" }",
    "{ print a,\n b > \"x\" }",
    "{ print a,\n\n b > \"x\" }",
    "{ print a, # more\n b > \"x\" }",
    "{ print a &&\n b > \"x\" }",
    "{ print a \\\n > \"x\" }",
    "{ print a ?\n b : c > \"x\" }",
    "{ print a[1 > 2] }",
    "BEGIN{getline x < \"/etc/shadow\"; print x}",
    "BEGIN{getline x < \"/root/.ssh/id_rsa\"}",
    "BEGIN{getline < \"/etc/x/../shadow\"}",
    "BEGIN{getline < \"etc/shadow\"}",
    "BEGIN{getline < \"/dev/zero\"}",
    "BEGIN{getline < \"/proc/1/environ\"}",
    "BEGIN{getline < \"/inet/tcp/0/evil/80\"}",
    "BEGIN{s=\"/inet/tcp/0/evil/80\"; print 1}",
    "{getline < $1}",
    "{getline x < FILENAME}",
    "{getline x < (\"/etc/hos\" \"ts\")}",
    "{getline x < \"/etc/hosts\" \".x\"}",
    "{getline a[\"x\"] < f}",
    "{getline $1 < f}",
    "@load \"filefuncs\"\nBEGIN{print 1}",
    "@include \"/tmp/x.awk\"",
    "@namespace \"x\"\nBEGIN{print 1}",
    "BEGIN{f=\"system\"; @f(\"id\")}",
    "BEGIN{awk::system(\"id\")}",
    "BEGIN{x::y=1}",
    "BEGIN{readfile(\"/etc/shadow\")}",
    "BEGIN{chdir(\"/\")}",
    "BEGIN{fork()}",
    "BEGIN{bindtextdomain(\"/tmp\")}",
    "BEGIN{print _\"x\"}",
    "BEGIN{ARGV[1]=\"/etc/shadow\"}",
    "BEGIN{ARGV[ARGC++]=\"/etc/shadow\"}",
    "BEGIN{ARGC=3}",
    "BEGIN{split(\"a /etc/shadow\", ARGV)}",
    "BEGIN{sub(/x/,\"/etc/shadow\",ARGV[1])}",
    "BEGIN{x == ARGV[1] = \"/etc/shadow\"}",
    "BEGIN{x == ARGV[1]++}",
    "BEGIN{for (ARGV[1] in a) x}",
    "BEGIN{ENVIRON[\"PATH\"]=\"/tmp\"}",
    "BEGIN{ENVIRON[\"HOME\"]++}",
    "BEGIN{print ENVIRON[\"HOME\"]=\"/tmp\"}",
    "BEGIN{for (k in ENVIRON) print k, ENVIRON[k]}",
    "BEGIN{print ENVIRON[\"API_TOKEN\"]}",
    "BEGIN{PROCINFO[\"cat\",\"pty\"]=1}",
    "BEGIN{PROCINFO[\"BUFFERPIPE\"]=1}",
    "BEGIN{SYMTAB[\"ARGC\"]=3}",
    "BEGIN{for (f in FUNCTAB) print f}",
    // A weaker reader loses its place in these.
    "/\"/ { system(\"id\") } # \"",
    "{ x = a / 2; system(\"id\") } # /",
    "{ x = a++ /\"/; system(\"id\") #\"/ }",
    "{ if (x) /\"/; system(\"id\") #\"\n }",
    "{ print length /\"/ }",
    "{ print \"a\\\\\" > \"/tmp/x\" }",
    "{ print \"a\\\" ; print \" > \"/tmp/x\" }",
    "/[/]\"/ { system(\"id\") } # \"/",
    "/[\\]/ { print } /]/ { print }",
    "/[[:x]/ { print } /]/ { print }",
    "/[\\][]/ { print } /]/ { print }",
    "/[[:x:]]/ { print }",
    "{ print /a/ > \"x\" }",
    "{ print 1 / 2 > \"x\" }",
    "{ print a / b ; print c > d / e }",
    "{ print a / /\"/; system(\"id\") #\"\n }",
    "{ print a - /\"/; system(\"id\") #\"\n }",
    "{ print $/x/ }",
    "# a comment \\\n{ print > \"x\" }",
    "# a comment \\\n{ print }",
    "{ sys\\\ntem(\"id\") }",
    "{ print a\\\nb }",
    "{ print \"a\\\nb\" }",
    "{ print \"a\n\" }",
    "{ print 0x1f }",
    "{ print 1e }",
    "{ print ( a \n > b ) }",
    "{ print (print > \"x\") }",
    "{ print ({ > \"x\" }) }",
    "{ print $1",
    "print $1 }",
    "{ print a[1) }",
    "{ a & b }",
    "{ print `id` }",
    "{ print 'x' }",
    "{ print\r}",
    "{ print \0 }",
    "{ print é }",
    "{ print \"x }",
    "/x { print }",
    "{ getline x < getline y < \"/etc/hosts\" }",
    "case /x/: print",
];

#[test]
fn what_people_type_is_proven() {
    for program in READING {
        assert_eq!(judge(program), Ok(()), "{program}");
    }
    assert!(READING.len() >= 80);
}

#[test]
fn what_does_more_is_refused() {
    for program in REFUSED {
        assert!(judge(program).is_err_and(|reason| !reason.is_empty()), "{program}");
    }
    assert!(REFUSED.len() >= 80);
}

#[test]
fn a_long_program_is_refused() {
    let of = |times: usize| "{ print $1 }\n".repeat(times);
    assert_eq!(judge(&of(600)), Ok(()));
    assert_eq!(judge(&of(700)), Err("is longer than 8192 bytes".to_owned()));
    assert_eq!(judge(&format!("{{ x = {}1{} }}", "(".repeat(4_000), ")".repeat(4_000))), Ok(()), "depth is no trouble");
}

#[test]
fn reasons_are_plain_words() {
    let programs = [
        "{print > \"/tmp/x\"}",
        "{print >> \"/tmp/x\"}",
        "{ print $1 > $2 }",
        "{ print $1 > 5 }",
        "{ print $1 >= 5 }",
        "{ print | \"sh\" }",
        "BEGIN { \"id\" | getline }",
        "BEGIN { \"id\" |& getline }",
        "BEGIN { system(\"id\") }",
        "@load \"fork\"",
        "@include \"x\"",
        "{ @f() }",
        "{ fork() }",
        "{ getline < $1 }",
        "{ getline < \"/etc/shadow\" }",
        "BEGIN { x = \"/inet/tcp/0/evil/80\" }",
        "BEGIN { ARGV[1] = \"x\" }",
        "BEGIN { for (k in ENVIRON) print k }",
        "{ x = a++ / 2 }",
        "/[/]/",
        "{ print",
    ];
    let reasons: Vec<String> = programs.iter().filter_map(|program| judge(program).err()).collect();
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    writes to /tmp/x (print > "/tmp/x")
    writes to /tmp/x (print >> "/tmp/x")
    writes to a file (print >)
    writes to a file named 5 (print > 5); a comparison needs parentheses
    prints a comparison without parentheses (>=)
    runs a command (print |)
    runs a command (| getline)
    runs a command (|& getline)
    runs a command (system)
    loads code (@load)
    loads code (@include)
    calls a function whose name is not seen (@)
    calls `fork`, which is not known to only compute
    reads a file whose name is not seen (getline <)
    reads /etc/shadow, which is not proven to be a plain file without secrets
    may open a network connection ("/inet/tcp/0/evil/80")
    may change which files are read (ARGV)
    reads or changes the environment, where secrets may be (ENVIRON)
    holds a `/` that may divide or begin a regular expression
    holds a regular expression whose end is doubtful (`/[/`)
    is not complete: a bracket is not closed
    "#);
}

/// Statements that no program may hold.
const HARMFUL: &[&str] = &[
    "system(\"id\")",
    "print > \"/tmp/x\"",
    "print $1 >> \"/tmp/x\"",
    "printf \"x\" > FILENAME",
    "print | \"sh\"",
    "\"id\" | getline",
    "\"id\" | getline x",
    "print |& \"sh\"",
    "getline x < \"/etc/shadow\"",
    "getline < $1",
    "ARGV[1] = \"/etc/shadow\"",
    "f = \"system\"; @f(\"id\")",
    "fork()",
];

/// Everywhere in a program that a statement may begin: behind a `{` or `;` that the program itself, cut there, shows to be
/// neither text nor comment nor a part of `for (;;)`.
fn boundaries(program: &str) -> Vec<usize> {
    let cuts = program.char_indices().filter(|(_, c)| matches!(c, '{' | ';')).map(|(at, c)| at + c.len_utf8());
    let is_statement = |cut: &usize| {
        let (head, _) = program.split_at(*cut);
        let opened = head.matches('{').count().saturating_sub(head.matches('}').count());
        judge(&format!("{head} zz = 1 {}", "}".repeat(opened))) == Ok(())
    };
    cuts.filter(is_statement).collect()
}

#[test]
fn a_harmful_statement_is_found_wherever_it_stands() {
    let mut seen = 0;
    for program in READING {
        for cut in boundaries(program) {
            let (head, tail) = program.split_at(cut);
            for harmful in HARMFUL {
                for planted in [format!("{head} {harmful}; {tail}"), format!("{head}{harmful}\n{tail}")] {
                    assert!(judge(&planted).is_err(), "{planted}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 2_000, "only {seen} places");
}

#[test]
fn a_harmful_rule_is_found_before_and_behind() {
    for program in READING {
        for harmful in HARMFUL {
            for planted in [format!("{{ {harmful} }} {program}"), format!("{program}\nEND {{ {harmful} }}")] {
                assert!(judge(&planted).is_err(), "{planted}");
            }
        }
    }
}

const PIECES: &[&str] = &[
    "print", " ", "\n", ";", "{", "}", "(", ")", "[", "]", "/", "\"", "\\", "#", "|", "||", ">", ">>", "<", "getline",
    "system", "a", "$1", "1", "\"x\"", "/x/", ",", "&&", "?", ":", "@", "é", "++", "if", "ARGV", "=", "in",
];

proptest! {
    #[test]
    fn any_text_is_judged(program in "\\PC{0,80}") {
        let _ = judge(&program);
    }

    /// What is harmless stays so only as long as no harm stands in it, whatever surrounds the harm.
    #[test]
    fn no_surroundings_make_a_command_harmless(
        head in proptest::collection::vec(proptest::sample::select(PIECES), 0..12),
        tail in proptest::collection::vec(proptest::sample::select(PIECES), 0..12),
    ) {
        let head = head.concat();
        // Only where the head is a whole program is what follows code for certain.
        if judge(&head) == Ok(()) {
            let planted = format!("{head}\nBEGIN {{ system(\"id\") }}\n{}", tail.concat());
            prop_assert!(judge(&planted).is_err(), "{}", planted);
        }
    }
}
